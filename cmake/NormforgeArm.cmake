# Builds for ARM inside a build for this machine, in its folder arm/, by the cross compiler if there is one: the
# runtime, which every library for ARM gets a copy of, and the programs of the tests.
find_program(NORMFORGE_ARM_CXX aarch64-linux-gnu-g++ DOC "Cross compiler for ARM; without it no library for ARM is written")
find_program(NORMFORGE_ARM_C aarch64-linux-gnu-gcc DOC "The same for C")
set(NORMFORGE_ARM_DIR ${PROJECT_BINARY_DIR}/arm)

# normforge_build_for_arm(<target> FILE f SOURCES pattern ...): makes the file, below arm/, by building that target of
# the same project there whenever one of the sources is newer. Each such build runs after those called for before it,
# as they share a folder.
function(normforge_build_for_arm target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILE" "SOURCES")
    list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)
    file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/CMakeLists.txt
        ${PROJECT_SOURCE_DIR}/cmake/*.cmake)
    get_property(files_before GLOBAL PROPERTY NORMFORGE_FILES_FOR_ARM)
    set_property(GLOBAL APPEND PROPERTY NORMFORGE_FILES_FOR_ARM ${NORMFORGE_ARM_DIR}/${arg_FILE})
    add_custom_command(OUTPUT ${NORMFORGE_ARM_DIR}/${arg_FILE}
        COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${NORMFORGE_ARM_DIR} -G ${CMAKE_GENERATOR}
            --toolchain ${PROJECT_SOURCE_DIR}/cmake/aarch64-linux-gnu.cmake -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
            -DNORMFORGE_WERROR=${NORMFORGE_WERROR} -DNORMFORGE_PROGRAM=${PROJECT_BINARY_DIR}/normforge
        COMMAND ${CMAKE_COMMAND} --build ${NORMFORGE_ARM_DIR} --target ${target}
        COMMAND ${CMAKE_COMMAND} -E touch ${NORMFORGE_ARM_DIR}/${arg_FILE}
        DEPENDS ${sources} ${files_before} COMMENT "Building ${target} for ARM" VERBATIM)
endfunction()
