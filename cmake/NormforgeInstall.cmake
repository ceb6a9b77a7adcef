# What is installed and packaged: the program with the one library it needs that no distribution has, the C API, and
# what find_package and pkg-config read. All of it finds itself by relative paths, so the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(private_libraries ${CMAKE_INSTALL_LIBDIR}/normforge)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/normforge)
set(package_sources ${PROJECT_SOURCE_DIR}/runtime/cmake)

file(RELATIVE_PATH libraries_from_program /${CMAKE_INSTALL_BINDIR} /${private_libraries})
set_target_properties(normforge PROPERTIES INSTALL_RPATH $ORIGIN/${libraries_from_program})
install(TARGETS normforge)
install(IMPORTED_RUNTIME_ARTIFACTS Halide::Halide LIBRARY DESTINATION ${private_libraries})
include(NormforgeNotices)
install(FILES ${PROJECT_SOURCE_DIR}/runtime/normforge.h TYPE INCLUDE)
install(FILES $<TARGET_FILE:normforge_library_runtime> TYPE LIB RENAME libnormforge.a)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md TYPE DOC)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs TYPE DOC)
# Those that need generated libraries and nothing else.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples TYPE DOC
    FILES_MATCHING PATTERN *.c PATTERN *.py PATTERN cuda_driver.h PATTERN transformer_block.cpp)

# find_package(normforge) in the installed tree, and in the build's.
set(normforge_program ${CMAKE_INSTALL_BINDIR}/normforge)
set(normforge_runtime ${CMAKE_INSTALL_LIBDIR}/libnormforge.a)
set(normforge_include ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(${package_sources}/normforgeConfig.cmake.in
    ${PROJECT_BINARY_DIR}/installed/normforgeConfig.cmake INSTALL_DESTINATION ${package_folder}
    PATH_VARS normforge_program normforge_runtime normforge_include NO_CHECK_REQUIRED_COMPONENTS_MACRO)
set(normforge_program normforge)
set(normforge_runtime runtime/libnormforge_library_runtime.a)
set(normforge_include include)
file(COPY ${PROJECT_SOURCE_DIR}/runtime/normforge.h DESTINATION ${PROJECT_BINARY_DIR}/include)
configure_package_config_file(${package_sources}/normforgeConfig.cmake.in
    ${PROJECT_BINARY_DIR}/normforgeConfig.cmake
    INSTALL_PREFIX ${PROJECT_BINARY_DIR} INSTALL_DESTINATION ${PROJECT_BINARY_DIR}
    PATH_VARS normforge_program normforge_runtime normforge_include NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/normforgeConfigVersion.cmake
    COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file(${package_sources}/AddNormLibrary.cmake ${PROJECT_BINARY_DIR} COPYONLY)
install(FILES ${PROJECT_BINARY_DIR}/installed/normforgeConfig.cmake
    ${PROJECT_BINARY_DIR}/normforgeConfigVersion.cmake ${package_sources}/AddNormLibrary.cmake
    DESTINATION ${package_folder})

file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(${package_sources}/normforge.pc.in ${PROJECT_BINARY_DIR}/normforge.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/normforge.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_CONTACT "The normforge developers")
set(CPACK_PACKAGE_VENDOR normforge)
set(CPACK_PACKAGE_DESCRIPTION "Tunes LayerNorm and RMSNorm kernels on the machine at hand and writes them to static libraries,
which programs link without any other dependency.")
set(CPACK_PACKAGE_FILE_NAME
    ${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# A compiler links what it writes, --shared too.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gcc | c-compiler, cmake, pkg-config")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS $<TARGET_FILE_DIR:Halide::Halide>)
include(CPack)
