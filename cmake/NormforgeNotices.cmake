# The licence notices of what the installed program holds of other projects, in libraries and as headers: these
# licences want them to go with it.

# normforge_install_notice(<name> <file>): as LICENSE.<name>.txt beside the documentation.
function(normforge_install_notice name file)
    cmake_path(NORMAL_PATH file)
    if (EXISTS ${file})
        install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.${name}.txt)
    else ()
        message(WARNING "The licence notice of ${name} is not at ${file}: packages made here go without it")
    endif ()
endfunction()

# Of the wheels. libHalide.so has an LLVM of its own inside, of the same licence.
normforge_install_notice(Halide ${Halide_DIR}/../../../share/doc/Halide/LICENSE.txt)
foreach (name LLVM zlib zstd)
    normforge_install_notice(${name} ${LLVM_DIR}/../../../../licenses/${name}.txt)
endforeach ()
# Of Debian's packages. Of fmt, whose library is the system's, the templates of its headers are in the program.
normforge_install_notice(CLI11 /usr/share/doc/libcli11-dev/copyright)
normforge_install_notice(fmt /usr/share/doc/libfmt-dev/copyright)
normforge_install_notice(nlohmann-json /usr/share/doc/nlohmann-json3-dev/copyright)
