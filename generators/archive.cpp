#include "generators/archive.h"

#include <memory>
#include <utility>

#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace normforge {

namespace {

template <typename Value>
Value value_of(llvm::Expected<Value> result) {
    if (!result) {
        llvm::reportFatalInternalError(result.takeError());
    }
    return std::move(*result);
}

}  // namespace

std::string make_archive(const std::vector<ArchiveMember> &members) {
    std::vector<llvm::NewArchiveMember> files;
    for (const ArchiveMember &member : members) {
        files.emplace_back(llvm::MemoryBufferRef(member.bytes, member.name));
    }
    const auto archive =
        value_of(llvm::writeArchiveToBuffer(files, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false));
    return archive->getBuffer().str();
}

std::vector<ArchiveMember> archive_members(std::string_view archive) {
    const auto file = value_of(llvm::object::Archive::create(llvm::MemoryBufferRef(archive, "archive")));
    std::vector<ArchiveMember> members;
    llvm::Error error = llvm::Error::success();
    for (const llvm::object::Archive::Child &child : file->children(error)) {
        members.push_back({value_of(child.getName()).str(), value_of(child.getBuffer()).str()});
    }
    if (error) {
        llvm::reportFatalInternalError(std::move(error));
    }
    return members;
}

}  // namespace normforge
