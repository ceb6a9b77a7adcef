// Takes two files of the build into the program; the build defines their paths.

    .macro embed name, path
    .hidden \name\()_begin, \name\()_end
    .globl \name\()_begin, \name\()_end
    .balign 8
\name\()_begin:
    .incbin "\path"
\name\()_end:
    .endm

    .section .rodata
    embed normforge_runtime_archive, RUNTIME_ARCHIVE
    embed normforge_api_header, API_HEADER

    .section .note.GNU-stack, "", %progbits
