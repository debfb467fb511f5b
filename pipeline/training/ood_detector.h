// Recognises scenes that are like no picture of the training.
//
// Each picture has a *profile*: how much it looks like each class that the base knows. It is made
// of the scores z that the base's last layer gives before softmax, whether the classes fit or not:
//
//   p = max(0, (z - mean(z)) / deviation(z) - 1),  profile = p / |p|
//
// so it keeps the classes that stand out, and forgets how sure the base is. The similarity of a
// scene is the mean cosine between its profile and those of the nearest examples (Sun et al.,
// "Out-of-Distribution Detection with Deep Nearest Neighbors", 2022, does so with embeddings). A
// base of few classes has no profiles; then embeddings take their place.
//
// Compared on five classes of ImageNet samples (136 pictures to train with, 139 others), at 5 % of
// the own pictures refused, with 141 pictures of reptiles, fish, tools, furniture and instruments,
// by MobileNetV2 with XNNPACK (means of two to five random halves):
//
//   detector                                                    foreign recognised   AUROC
//   profiles, 5 nearest                                                93 %          0.97
//   the base's softmax: share of the classes of the training           84 %          0.96
//   Mahalanobis distance, shrunk covariance (relative)                 38 % (27 %)   0.86 (0.87)
//   embeddings, 1 nearest (5 nearest)                                  37 % (29 %)   0.86 (0.81)
//   the base's softmax: KL divergence to the means of the classes      37 %          0.79
//   ViM, residual of 60 components                                     36 %          0.88
//   the new head: energy with ASH                                      35 %          0.88
//   the new head: energy (with ReAct)                                  26 % (25 %)   0.83 (0.83)
//   the base's softmax: Hellinger distance, 5 nearest                  20 %          0.66
//   energy of the base                                                  6 %          0.54
//
// Without the 1 of the formula profiles recognise 91 %, with 2 instead 93 %. On a fixed scene, and
// on ants and bees, profiles and embeddings are equally good.
//
// A frame costs the base's last layer, which it has in an ordinary classification, too, and the
// products with the examples: 1.3 and 0.13 million multiplications of 300 for MobileNetV2.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/training/embeddings.h"

namespace lookout {

// A base of fewer classes has no profiles: with 64 of a thousand classes profiles still recognised
// 45 % of the foreign pictures, with 32 no more than embeddings.
inline constexpr std::size_t kLeastClassesOfProfiles = 100;

// The profile of a picture. `base_scores`: before softmax, of every class of the base.
std::vector<float> profile_of(const std::vector<float>& base_scores);

// dot() in a seventh of the instructions, and with another rounding. Training keeps to dot(): the
// same pictures give the same file.
float dot_of_frame(const float* a, const float* b, std::size_t width);
using DotProduct = float (*)(const float* a, const float* b, std::size_t width);

struct OodDetector {
  Embeddings examples;  // profiles or, without them, embeddings
  bool of_profiles = false;
  std::size_t neighbours = 5;
  float threshold = 0;  // a scene of this similarity is unknown with a score of 0.5
  float steepness = 1;  // unknown = sigmoid((threshold - similarity) * steepness)

  // `row`: of what the examples are.
  float similarity(const float* row, DotProduct product = dot) const;
  float unknown(float similarity) const;  // 0..1
};

// What pictures of the base's classes would look like, as profiles: the one of class c is made of
// the scores that the direction of its weights gets. `rows`: the weights of the base's last layer.
// Left out are classes that stand out most in a profile of `known`.
Embeddings foreign_profiles(const Embeddings& rows, const Embeddings& known);

struct OodThreshold {
  float threshold = 0;
  float steepness = 1;
};

// Chooses the threshold between two bounds: the lowest at which 95 % of the foreign scenes are
// unknown. Lower than `kDeviations` deviations below the mean of `views` it never is, and never
// higher than the 5th percentile of `pictures` unless that is lower still. Without foreign
// scenes it is the lower bound. All are similarities: of every view of the held-out pictures, of
// these pictures as they are, and of foreign scenes.
OodThreshold choose_threshold(const std::vector<float>& views, std::vector<float> pictures,
                              std::vector<float> foreign);

}  // namespace lookout
