# Included by OpenCV's project(): nothing of the machine and the folder that built it stays in the
# libraries, so that they are the same from any.
function(lookout_forget_names)
  # What getBuildInformation() returns: the kernel, paths of libraries, flags.
  file(WRITE ${CMAKE_BINARY_DIR}/modules/core/version_string.inc "\"OpenCV of lookout's package\\n\"\n")
  # Folders of sample data, also those of the sources and the build.
  set(_config ${CMAKE_BINARY_DIR}/opencv_data_config.hpp)
  file(READ ${_config} _folders)
  string(REGEX REPLACE "\"[^\"\n]*\"" "\"/usr\"" _folders "${_folders}")
  file(WRITE ${_config} "${_folders}")
endfunction()
cmake_language(DEFER CALL lookout_forget_names)  # after OpenCV has written them
