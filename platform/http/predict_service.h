// Answers to clients who send pictures: `/predict`, and TorchServe's `/predictions/MODEL`.
#pragma once

#include <string>
#include <vector>

#include "pipeline/core/model_spec.h"
#include "platform/http/http_message.h"
#include "platform/predict/predictor.h"

namespace lookout {

// Used by the server's thread alone.
class PredictService {
 public:
  static constexpr std::size_t kMaxPictures = 16;  // of a request

  // `pictures` outlives this. Throws as Predictor.
  PredictService(PictureQueue& pictures, const PredictLimits& limits)
      : predictor_(pictures, limits) {}

  Predictor& predictor() { return predictor_; }

  // Answers to a form with files, or to the file itself. One: `{"class_id":...,"class_name":...,
  // "score":...,"results":[...],"model":...,"timing_ms":{...}}`. Several: `{"predictions":[...]}`,
  // each with its `file`, or with `error` instead of a result. Names as of PyTorch's tutorial on
  // Flask. `like_torchserve`: `{"tabby":0.61,"tiger cat":0.33,...}`, the five best of the first
  // file.
  void predict(const HttpRequest& request, const HttpRespond& respond, bool like_torchserve);

 private:
  void use(const ModelInfoPtr& model);
  std::string class_fields(const Prediction& prediction) const;
  std::string fields_of(const PredictedPicture& picture);
  HttpResponse answer(const std::vector<PredictedPicture>& pictures);
  HttpResponse answer_like_torchserve(const PredictedPicture& picture);

  ModelInfoPtr model_;                  // of the last result; what follows is of it
  std::string name_;                    // as JSON
  std::vector<std::string> labels_;     // as JSON
  std::vector<std::string> names_;      // as JSON: labels with `_` for blanks
  std::vector<std::string> class_ids_;  // as JSON: the archive's, else the indices
  Predictor predictor_;
};

}  // namespace lookout
