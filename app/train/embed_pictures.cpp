#include "app/train/embed_pictures.h"

#include <fmt/format.h>

#include <opencv2/core.hpp>
#include <utility>

#include "pipeline/core/error.h"
#include "platform/sources/open_source.h"

namespace lookout {
namespace {

// Chosen by cross-validation on pictures of ants and bees; more kinds of views change nothing.
constexpr double kCut = 0.85;
constexpr double kDarker = 0.7;
constexpr double kLighter = 1.4;

View cut(View view) {
  constexpr double kMargin = (1 - kCut) / 2;
  const cv::Rect2d whole = view.roi;
  view.roi = {whole.x + kMargin * whole.width, whole.y + kMargin * whole.height, kCut * whole.width,
              kCut * whole.height};
  return view;
}

View mirrored(View view) {
  view.hflip = !view.hflip;
  view.roi.x = 1 - view.roi.x - view.roi.width;
  return view;
}

// Appends the views of a picture to a set.
class Views {
 public:
  Views(Trainer& trainer, const View& view, Variants variants, TrainingSet& set)
      : trainer_(trainer), set_(set), plain_(trainer.spec().input, view) {
    if (variants == Variants::kNone) return;
    others_.emplace_back(trainer.spec().input, cut(view));
    if (variants == Variants::kMirrored) {
      others_.emplace_back(trainer.spec().input, mirrored(view));
    }
    set.views = 1 + others_.size() + 2;
  }

  // Changes the picture.
  void add(cv::Mat& bgr) {
    add(plain_, bgr);
    if (others_.empty()) return;
    for (Preprocessor& other : others_) add(other, bgr);
    bgr.convertTo(bgr, -1, kDarker);
    add(plain_, bgr);
    bgr.convertTo(bgr, -1, kLighter / kDarker);
    add(plain_, bgr);
  }

 private:
  void add(Preprocessor& preprocessor, const cv::Mat& bgr) {
    preprocessor.run(bgr, image_);
    trainer_.embed(image_, embedding_, base_scores_);
    set_.embeddings.add(embedding_);
    if (!base_scores_.empty()) set_.profiles.add(profile_of(base_scores_));
  }

  Trainer& trainer_;
  TrainingSet& set_;
  Preprocessor plain_;
  std::vector<Preprocessor> others_;
  ImageTensor image_;
  std::vector<float> embedding_;
  std::vector<float> base_scores_;
};

void keep(const TrainPictures& all, std::size_t i, TrainPictures& kept) {
  kept.files.push_back(all.files[i]);
  kept.classes.push_back(all.classes[i]);
  kept.hashes.push_back(all.hashes[i]);
}

float brightness_of(const cv::Mat& bgr) {
  const cv::Scalar mean = cv::mean(bgr);
  return static_cast<float>((mean[0] + mean[1] + mean[2]) / 3);
}

void check_skipped(std::size_t skipped, std::size_t all) {
  constexpr std::size_t kTenth = 10;
  if (skipped * kTenth <= all) return;
  throw Error(ErrorKind::kBadData,
              fmt::format("{} of {} pictures cannot be read: more than a tenth, so the set is not "
                          "what it should be",
                          skipped, all));
}

}  // namespace

EmbeddedPictures embed_pictures(const TrainPictures& pictures, const View& view, Variants variants,
                                Trainer& trainer, ProgressLine& progress,
                                const std::atomic<bool>& stop) {
  EmbeddedPictures embedded;
  embedded.pictures.folder = pictures.folder;
  embedded.pictures.labels = pictures.labels;
  embedded.pictures.duplicates = pictures.duplicates;
  embedded.pictures.left_out = pictures.left_out;
  embedded.set.classes = pictures.labels.size();
  Views views(trainer, view, variants, embedded.set);
  const auto source = open_pictures("pictures", pictures.files);
  Frame frame;
  for (std::size_t i = 0; i < pictures.files.size(); ++i) {
    if (stop) throw Interrupted();
    if (source->read(frame, {}) != ReadStatus::kFrame) {
      ++embedded.skipped;
      continue;
    }
    embedded.brightness.push_back(brightness_of(frame.bgr));
    views.add(frame.bgr);
    embedded.set.embeddings.reserve(pictures.files.size() * embedded.set.views);
    embedded.set.profiles.reserve(pictures.files.size() * embedded.set.views);
    embedded.set.picture_classes.push_back(pictures.classes[i]);
    keep(pictures, i, embedded.pictures);
    progress.show(i + 1, pictures.files.size());
  }
  check_skipped(embedded.skipped, pictures.files.size());
  return embedded;
}

}  // namespace lookout
