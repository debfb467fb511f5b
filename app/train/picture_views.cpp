#include "app/train/picture_views.h"

#include <fmt/format.h>

#include "pipeline/training/ood_detector.h"

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

}  // namespace

std::string usual_views() {
  return fmt::format("cut {}, light {} and {}", kCut, kDarker, kLighter);
}

PictureViews::PictureViews(Trainer& trainer, const View& view, Variants variants)
    : trainer_(trainer) {
  const InputSpec& input = trainer.spec().input;
  views_.emplace_back(input, view);
  if (variants != Variants::kNone) {
    views_.emplace_back(input, cut(view));
    lights_ = {kDarker, kLighter / kDarker};
  }
  if (variants == Variants::kMirrored) views_.emplace_back(input, mirrored(view));
}

void PictureViews::embed(cv::Mat& bgr, Embeddings& directions, Embeddings& profiles) {
  const auto add = [&](Preprocessor& preprocessor) {
    preprocessor.run(bgr, image_);
    trainer_.embed(image_, embedding_, base_scores_);
    directions.add(embedding_);
    if (!base_scores_.empty()) profiles.add(profile_of(base_scores_));
  };
  for (Preprocessor& preprocessor : views_) add(preprocessor);
  for (const double light : lights_) {
    bgr.convertTo(bgr, -1, light);
    add(views_.front());
  }
}

}  // namespace lookout
