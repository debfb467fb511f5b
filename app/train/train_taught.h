// lookout train-taught and preview-taught: what works for a page on which an owner teaches.
#pragma once

#include <functional>
#include <istream>
#include <string_view>

namespace lookout {

// Reads a TrainingOrder from `input`, computes and keeps the embeddings that the EmbeddingCache
// lacks, learns, and writes the head. `print` gets TrainingNews, a line each. The same pictures and
// base give the model that train() makes; what is told of it is measured with other folds. The
// process gets the lowest priority and limits, and ends with its parent. Returns the exit status; a
// problem is a line, too.
int train_taught(std::istream& input, const std::function<void(std::string_view)>& print);

// Whenever a byte comes on stdin, reads a TrainingOrder from kOrderFile and the picture that it
// names from kFrameFile, and prints a TeachLook, a line. Then, for half a second at most, computes
// embeddings that the EmbeddingCache lacks. Ends when nothing comes for half a minute, or stdin
// ends. Limits as of train_taught(). Returns the exit status.
int preview_taught(const std::function<void(std::string_view)>& print);

}  // namespace lookout
