// The pictures of a folder, and what it holds besides.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace lookout {

// Whether the name's extension is that of a picture that can be read, in either case.
bool has_picture_extension(const std::string& path);

// Whether a folder of this name, in any case, is made by a system for itself: bins, previews and
// remains of repairs, as @eaDir, $RECYCLE.BIN, __MACOSX and lost+found. Names that
// begin with a dot are hidden anyway.
bool is_system_folder(const std::string& name);

// The pictures in a folder, by their extension, without hidden ones, in the order people expect
// (img2 before img10): paths, joined with the folder as given. `recursive`: also those in its
// folders, each of which is entered once, however many links lead to it, but not folders of
// systems.
//
// Logs what was left out, once, with counts: "2 left out: 1 .heic (not supported), 1 video; 1
// folder is not entered (camera.recursive)". Throws Error(kNoInput), with the same, when there are
// no pictures, Error(kPermission) when the folder may not be listed. `systems`: takes the names of
// the system folders, which are not logged then; null: they are.
std::vector<std::string> list_pictures(const std::string& folder, bool recursive,
                                       std::set<std::string>* systems = nullptr);

// Throws as list_pictures() does, and logs nothing.
void require_pictures(const std::string& folder, bool recursive);

}  // namespace lookout
