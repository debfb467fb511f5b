// What a picture looks like, before a model is trained.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/training/embeddings.h"
#include "platform/teach/teach_progress.h"

namespace lookout {

struct Preview {
  std::string label;
  float similarity = 0;  // mean cosine to the label's nearest pictures
  float lead = 0;        // by how much more similar it is than the next label
};

// Names the class whose pictures are nearest. Used by one thread at a time.
class TeachPreview {
 public:
  // Of a class's pictures, so many of the nearest ones count.
  static constexpr std::size_t kNearest = 5;

  // `direction`: of a picture, as it is, of the label.
  void add(const std::string& label, const float* direction, std::size_t width);

  // Nothing before two classes have kLeastPictures.
  std::optional<Preview> of(const float* direction) const;

 private:
  struct Class {
    std::string label;
    Embeddings directions;
  };

  std::vector<Class> classes_;
};

}  // namespace lookout
