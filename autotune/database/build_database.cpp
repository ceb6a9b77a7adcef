// Makes the database that normforge is shipped with: build_database OUT JSON..., of which JSON is what db export
// wrote. For the build; exit status 1 with the reason on standard error.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "autotune/database/database.h"
#include "autotune/database/evidence_json.h"

int main(int argc, char **argv) {
    using namespace normforge;
    try {
        std::filesystem::remove(argv[1]);
        Database database = Database::open(argv[1]);
        for (int index = 2; index < argc; index++) {
            std::ifstream file(argv[index], std::ios::binary);
            database.add(from_json({std::istreambuf_iterator<char>(file), {}}, argv[index]));
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
