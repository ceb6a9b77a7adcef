#include "autotune/base/code_hash.h"

#include <fmt/format.h>

#include <span>

#include "autotune/base/content_hash.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Error.h"

namespace normforge {

namespace {

template <typename Value>
Value value_of(llvm::Expected<Value> result) {
    if (!result) {
        llvm::reportFatalInternalError(result.takeError());
    }
    return std::move(*result);
}

// A place in a section of the object, or the name of what is elsewhere.
std::string description(const llvm::object::ObjectFile &file, const llvm::object::SymbolRef &symbol) {
    const llvm::object::section_iterator section = value_of(symbol.getSection());
    return section == file.section_end()
               ? value_of(symbol.getName()).str()
               : fmt::format("{}+{}", value_of(section->getName()).str(), value_of(symbol.getValue()));
}

}  // namespace

std::string code_hash(const std::string &object) {
    const auto file = value_of(llvm::object::ObjectFile::createELFObjectFile({object, "kernel"}));
    std::string code;
    for (const llvm::object::SectionRef &section : file->sections()) {
        if (!section.isText() && !section.isData()) {
            continue;
        }
        const llvm::StringRef bytes = value_of(section.getContents());
        code += fmt::format("section {} of {} bytes\n", value_of(section.getName()).str(), bytes.size());
        code += bytes;
    }
    for (const llvm::object::SectionRef &section : file->sections()) {
        const llvm::object::section_iterator target = value_of(section.getRelocatedSection());
        if (target == file->section_end() || (!target->isText() && !target->isData())) {
            continue;
        }
        code += fmt::format("relocations of {}\n", value_of(target->getName()).str());
        for (const llvm::object::ELFRelocationRef relocation : section.relocations()) {
            code += fmt::format("{} {} {} {}\n", relocation.getOffset(), relocation.getType(),
                                description(*file, *relocation.getSymbol()), value_of(relocation.getAddend()));
        }
    }
    return content_hash(std::as_bytes(std::span(code)));
}

}  // namespace normforge
