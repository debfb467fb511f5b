// Trains the last layer of a network for new classes. Each engine implements Trainer in its folder.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/archive/archive.h"
#include "pipeline/core/input_spec.h"
#include "pipeline/core/model_facts.h"
#include "pipeline/core/model_spec.h"
#include "pipeline/training/embeddings.h"
#include "pipeline/training/ood_detector.h"

namespace lookout {

// A linear layer on directions: logits = weights * direction + biases.
struct Head {
  std::size_t outputs = 0;
  std::vector<float> weights;  // [outputs][width]
  std::vector<float> biases;   // [outputs]

  // Writes `outputs` logits. `direction` has the width of the weights.
  void apply(const float* direction, std::vector<float>& logits) const;
};

struct FitOptions {
  const Embeddings& embeddings;
  const std::vector<std::size_t>& classes;  // of each row, below `outputs`
  const std::vector<float>& weights;        // of each row, as large as one likes; 0: it is left out
  std::size_t outputs;
  double l2;  // half of it times the sum of the squared weights is added to the weighted mean
              // cross-entropy
};

struct TrainerOptions {
  int threads = 1;                              // that compute an embedding
  std::vector<std::string> operator_libraries;  // as ClassifierOptions
  StatedModel stated;                           // the same
};

struct TrainedModel {
  // Its logits are calibrated. Its last output belongs to counter-examples if it has one more than
  // there are classes.
  Head head;
  std::size_t classes = 0;
  OodDetector detector;
  std::string metadata;       // metadata.json
  std::string labels;         // labels.txt: of the classes, and "unknown"
  std::string producer_info;  // producer_info.json
};

// The description of a base. Its labels and class ids are not used, and may be missing. Throws
// Error(kBadData).
ModelSpec spec_of_base(const ModelArchive& archive, ArchiveContents contents,
                       const StatedModel& stated);

// Used by one thread.
class Trainer {
 public:
  virtual ~Trainer() = default;

  // Of the base. Valid as long as the trainer.
  virtual const ModelSpec& spec() const = 0;
  virtual const ModelFacts& facts() const = 0;

  // `image` as for Classifier::classify(). Overwrites `embedding`, whose size is always the same,
  // and `base_scores`: what the base's last layer makes of it, before softmax. They are empty when
  // the base has fewer than kLeastClassesOfProfiles classes. Throws Error(kBadData) when the base
  // fails.
  virtual void embed(const ImageTensor& image, std::vector<float>& embedding,
                     std::vector<float>& base_scores) = 0;

  // The weights of the base's last layer, a row for each of its classes; empty without base scores,
  // or when the weights cannot be read.
  virtual Embeddings class_rows() const = 0;

  // The bytes of an archive that contains the base without its last layer, and gives for each
  // picture the probabilities of the classes and of "unknown". With a detector of profiles it
  // keeps the base's last layer, too. The same model gives the same bytes.
  virtual std::string write(const TrainedModel& model) = 0;
};

}  // namespace lookout
