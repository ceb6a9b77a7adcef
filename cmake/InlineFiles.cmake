# Writes `output`: `page` with the text of the file NAME, beside it, for every {{NAME}} of `files`.
file(READ ${page} text)
get_filename_component(folder ${page} DIRECTORY)
foreach (name IN LISTS files)
    file(READ ${folder}/${name} part)
    string(REPLACE "{{${name}}}" "${part}" text "${text}")
endforeach ()
file(WRITE ${output} "${text}")
