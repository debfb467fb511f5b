# Sets LOOKOUT_CACHE, the folder for what is downloaded or made once: as the scripts here choose it.
if(NOT "$ENV{LOOKOUT_CACHE}" STREQUAL "")
  set(LOOKOUT_CACHE "$ENV{LOOKOUT_CACHE}")
elseif(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(LOOKOUT_CACHE "$ENV{XDG_CACHE_HOME}/lookout")
else()
  set(LOOKOUT_CACHE "$ENV{HOME}/.cache/lookout")
endif()
