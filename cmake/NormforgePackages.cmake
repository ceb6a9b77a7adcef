# Where the pinned wheels of .venv keep their CMake packages. A path given on the command line wins.
# Halide's folder is named lib64, which CMake does not search on Debian.
file(GLOB site_packages ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages)
if (site_packages)
    list(GET site_packages 0 site_packages)
    set(Halide_DIR ${site_packages}/halide/lib64/cmake/Halide CACHE PATH "Halide's CMake package")
    set(HalideHelpers_DIR ${site_packages}/halide/lib64/cmake/HalideHelpers CACHE PATH "Halide's generator helpers")
    # The root, not the package's folder: zlib and zstd, which LLVM links, lie beside it.
    set(LLVM_ROOT ${site_packages}/mlc_llvm_static/static CACHE PATH "LLVM, zlib and zstd")
endif ()
# Halide looks for its Python bindings, at length, where nobody wants them.
set(CMAKE_DISABLE_FIND_PACKAGE_Halide_Python ON)
