// Answers to clients who send pictures: `/predict`, and TorchServe's `/predictions/MODEL`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/core/model_spec.h"
#include "pipeline/core/result.h"
#include "platform/http/http_message.h"
#include "platform/predict/predictor.h"

namespace lookout {

// The watch that the query of a request names; empty: none.
std::string watch_of(const HttpRequest& request);

// Why pictures are not classified as the watch `name` would; nothing: they are. An empty name is
// refused when the watches have several models, since nothing says which one is meant.
std::optional<HttpResponse> watch_refusal(const WatchList& watches, const std::string& name);

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
  // Flask. As one of `watches` would if the query, or a field of the form, has its name as `watch`;
  // then a result has `"watch":...,"state":...`, too.
  void predict(const HttpRequest& request, const WatchList& watches, const HttpRespond& respond);
  // `{"tabby":0.61,"tiger cat":0.33,...}`, the five best of the first file. As the watch that the
  // query names, if it does.
  void predict_like_torchserve(const HttpRequest& request, const HttpRespond& respond);

 private:
  using Answer = HttpResponse (PredictService::*)(const std::vector<PredictedPicture>& pictures);

  void put(const HttpRequest& request, std::vector<UploadedPicture> pictures, std::string watch,
           const HttpRespond& respond, Answer answer);
  void use(const ModelInfoPtr& model);
  std::string class_fields(const Prediction& prediction) const;
  std::string fields_of(const PredictedPicture& picture);
  HttpResponse answer(const std::vector<PredictedPicture>& pictures);
  HttpResponse answer_like_torchserve(const std::vector<PredictedPicture>& pictures);

  ModelInfoPtr model_;                  // of the last result; what follows is of it
  std::string name_;                    // as JSON
  std::vector<std::string> labels_;     // as JSON
  std::vector<std::string> names_;      // as JSON: labels with `_` for blanks
  std::vector<std::string> class_ids_;  // as JSON: the archive's, else the indices
  Predictor predictor_;
};

}  // namespace lookout
