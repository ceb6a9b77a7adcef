// Takes files of the build into the program; the build defines their quoted paths.

    .macro embed name, path
    .hidden \name, \name\()End
    .globl \name, \name\()End
    .balign 8
\name:
    .incbin "\path"
\name\()End:
    .endm

    .section .rodata
    embed kEmbeddedRuntimeArchive, RUNTIME_ARCHIVE
    embed kEmbeddedArmRuntimeArchive, ARM_RUNTIME_ARCHIVE
    embed kEmbeddedMeasuringArchive, MEASURING_ARCHIVE
    embed kEmbeddedArmMeasuringArchive, ARM_MEASURING_ARCHIVE
    embed kEmbeddedApiHeader, API_HEADER
    embed kEmbeddedShippedDatabase, SHIPPED_DATABASE
    embed kEmbeddedReportPage, REPORT_PAGE

    .section .note.GNU-stack, "", %progbits
