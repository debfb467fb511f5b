// Descriptions of models in the words of other programs, in a model and beside it.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "pipeline/archive/archive.h"
#include "pipeline/core/model_spec.h"

namespace lookout {

// Keys and values: metadata_props of an ONNX file, config.txt of a TorchScript archive. Values that
// are no texts are JSON.
using ForeignTexts = std::map<std::string, std::string>;

ForeignTexts foreign_texts(const ArchiveContents& contents);

// Takes over what the texts say about the input and the output, but no labels: those of
// Ultralytics' exporter, whose classifiers take pixels in 0..1 without normalisation and give
// probabilities (https://docs.ultralytics.com/modes/export/), timm's `pretrained_cfg`
// (https://huggingface.co/docs/timm/reference/models), and the channels' order and the pixels'
// range of ONNX's own properties (https://github.com/onnx/onnx/blob/main/docs/MetadataProps.md). A
// size that cannot be read is left to check_foreign_size(). Throws std::runtime_error, whose
// sentence tells why, when the model is none that classifies, or something else cannot be read.
void take_foreign(const ForeignTexts& texts, ModelSpec& spec);

// Throws std::runtime_error when the texts have a size that cannot be read, and nothing else says
// it.
void check_foreign_size(const ForeignTexts& texts, const ModelSpec& spec);

// The `names` of Ultralytics' exporters; empty: none are there. Throws std::runtime_error, whose
// sentence tells why, when they cannot be read.
std::vector<std::string> foreign_labels(const ForeignTexts& texts);

// Takes over what a file beside a model says: NAME.metadata.json, where NAME is the model's file
// with or without its extension; else metadata.json or timm's config.json, if the model is the only
// one in its folder, or metadata.json has its "name". Throws Error(kBadData) naming the file.
void take_beside(const std::filesystem::path& model, ModelSpec& spec);

// Where take_beside() looks, whether there is a file or not.
std::array<std::filesystem::path, 4> places_beside(const std::filesystem::path& model);

// The first file that take_beside() takes something from, or would if the model left it open.
// Throws as take_beside().
std::optional<std::filesystem::path> description_beside(const std::filesystem::path& model);

}  // namespace lookout
