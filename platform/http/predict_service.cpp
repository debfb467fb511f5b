#include "platform/http/predict_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "pipeline/core/append_format.h"
#include "pipeline/core/lower_case.h"
#include "pipeline/results/format.h"
#include "platform/predict/multipart.h"

namespace lookout {
namespace {

constexpr std::size_t kTorchServeRows = 5;  // of its image classifier

struct Upload {
  std::vector<UploadedPicture> pictures;
  std::string watch{};  // that a form names; empty: none
};

HttpResponse failure_of(const PredictedPicture& picture) {
  return http_error(picture.failure.status, picture.failure.code, picture.failure.message);
}

// The files of a form: parts with a file name, or called "file". Its field "watch" names one.
std::variant<Upload, HttpResponse> upload_of_form(const std::string& body,
                                                  const std::string& boundary) {
  const auto parts = parse_multipart(body, boundary);
  if (!parts) {
    return http_error(
        400, "bad_multipart",
        fmt::format("the form is malformed, cut, or has more than {} parts", FormPart::kMax));
  }
  Upload upload;
  auto& pictures = upload.pictures;
  for (const FormPart& part : *parts) {
    if (part.filename || part.name == "file") {
      pictures.push_back({part.filename.value_or(""), part.content});
    } else if (part.name == "watch") {
      upload.watch = part.content;
    }
  }
  // A form whose field was left empty sends a file without a name.
  const bool nothing_chosen =
      pictures.size() == 1 && pictures[0].name.empty() && pictures[0].bytes.empty();
  if (pictures.empty() || nothing_chosen) {
    return http_error(400, "no_file", "the form has no file: curl -F file=@picture.jpg");
  }
  if (pictures.size() > PredictService::kMaxPictures) {
    return http_error(
        413, "too_many_pictures",
        fmt::format("the form has {} pictures; at most {} are taken at once: send the others apart",
                    pictures.size(), PredictService::kMaxPictures));
  }
  return upload;
}

// A picture, whatever kind, or bytes of no type, as `curl -T` sends them.
bool is_picture_type(const std::string& type) {
  return type.empty() || type.rfind("image/", 0) == 0 || type == "application/octet-stream";
}

std::variant<Upload, HttpResponse> upload_of(const HttpRequest& request) {
  if (!request.body || request.body->empty()) {
    return http_error(400, "no_file", "there is no picture: curl -F file=@picture.jpg");
  }
  std::string type = lower_case(request.content_type);
  type.resize(std::min(type.find(';'), type.size()));
  if (type == "multipart/form-data") {
    const auto boundary = boundary_of(request.content_type);
    if (boundary) return upload_of_form(*request.body, *boundary);
    return http_error(400, "bad_multipart", "the form's type has no boundary, or a wrong one");
  }
  if (is_picture_type(type)) return Upload{{{"", *request.body}}};
  return http_error(415, "unsupported_type",
                    "send the picture as multipart/form-data (curl -F file=@picture.jpg) or as "
                    "image/jpeg, image/png or image/webp");
}

}  // namespace

std::string watch_of(const HttpRequest& request) {
  return query_value(request.query, "watch").value_or("");
}

std::optional<HttpResponse> watch_refusal(const WatchList& watches, const std::string& name) {
  if (!name.empty()) {
    if (watch_called(watches, name) != nullptr) return std::nullopt;
    return http_error(404, "no_such_watch", no_watch_text(watches, name));
  }
  const ModelInfoPtr& model = watches.front().model;
  const bool has_one_model = std::all_of(
      watches.begin(), watches.end(), [&model](const auto& each) { return each.model == model; });
  if (has_one_model) return std::nullopt;
  return http_error(400, "no_watch_named",
                    "the watches have several models: say by ?watch=NAME which one is meant, of " +
                        names_of_watches(watches));
}

void PredictService::use(const ModelInfoPtr& model) {
  if (model == model_) return;
  model_ = model;
  name_ = to_json(model_->name);
  labels_.clear();
  names_.clear();
  class_ids_.clear();
  for (std::size_t i = 0; i < model_->labels.size(); ++i) {
    std::string name = model_->labels[i];
    labels_.push_back(to_json(name));
    std::replace(name.begin(), name.end(), ' ', '_');
    names_.push_back(to_json(name));
    class_ids_.push_back(
        to_json(model_->class_ids.empty() ? std::to_string(i) : model_->class_ids[i]));
  }
}

void PredictService::predict(const HttpRequest& request, const WatchList& watches,
                             const HttpRespond& respond) {
  auto taken = upload_of(request);
  if (auto* mistake = std::get_if<HttpResponse>(&taken)) return respond(std::move(*mistake));
  auto& [pictures, watch_of_form] = std::get<Upload>(taken);
  std::string watch = watch_of(request);
  if (watch.empty()) watch = std::move(watch_of_form);
  if (auto refused = watch_refusal(watches, watch)) return respond(std::move(*refused));
  put(request, std::move(pictures), std::move(watch), respond, &PredictService::answer);
}

void PredictService::predict_like_torchserve(const HttpRequest& request,
                                             const HttpRespond& respond) {
  auto taken = upload_of(request);
  if (auto* mistake = std::get_if<HttpResponse>(&taken)) return respond(std::move(*mistake));
  auto& pictures = std::get<Upload>(taken).pictures;
  pictures.resize(1);
  put(request, std::move(pictures), watch_of(request), respond,
      &PredictService::answer_like_torchserve);
}

void PredictService::put(const HttpRequest& request, std::vector<UploadedPicture> pictures,
                         std::string watch, const HttpRespond& respond, Answer answer) {
  const auto done = [this, respond, answer](const std::vector<PredictedPicture>& done) {
    respond((this->*answer)(done));
  };
  if (predictor_.put({request.body, std::move(pictures), done, request.gone, request.address,
                      std::move(watch)})) {
    return;
  }
  respond(
      http_error(503, "busy", "too many pictures wait to be classified", predictor_.retry_after()));
}

std::string PredictService::class_fields(const Prediction& prediction) const {
  return fmt::format(R"("class_id":{},"class_name":{},"score":{:.4f})",
                     class_ids_.at(prediction.index), names_.at(prediction.index),
                     prediction.score);
}

// The members of a JSON object, without its braces.
std::string PredictService::fields_of(const PredictedPicture& picture) {
  const Result& result = *picture.result;
  use(result.model);
  std::string fields = result.top.empty() ? R"("class_id":null,"class_name":null,"score":null)"
                                          : class_fields(result.top.front());
  fields += R"(,"results":[)";
  const char* separator = "";
  for (const Prediction& prediction : result.top) {
    append_format(fields, R"({}{{{},"index":{},"label":{}}})", separator, class_fields(prediction),
                  prediction.index, labels_.at(prediction.index));
    separator = ",";
  }
  const auto classifying = result.durations.preprocess + result.durations.inference;
  append_format(fields, R"(],"model":{})", name_);
  if (result.watch) {
    append_format(fields, R"(,"watch":{},"state":{})", to_json(result.watch->name),
                  to_json(std::string(result.state.name())));
  }
  append_format(fields,
                R"(,"timing_ms":{{"decode":{:.3f},"wait":{:.3f},)"
                R"("preprocess":{:.3f},"inference":{:.3f},"total":{:.3f}}})",
                to_ms(picture.decoding),
                to_ms(std::max(result.frame_age - classifying, Clock::duration::zero())),
                to_ms(result.durations.preprocess), to_ms(result.durations.inference),
                to_ms(picture.decoding + result.frame_age));
  return fields;
}

HttpResponse PredictService::answer(const std::vector<PredictedPicture>& pictures) {
  const bool nothing = std::none_of(pictures.begin(), pictures.end(),
                                    [](const auto& picture) { return picture.result; });
  if (nothing) return failure_of(pictures.front());
  if (pictures.size() == 1) {
    return http_text("application/json", "{" + fields_of(pictures.front()) + "}\n");
  }
  std::string body = R"({"predictions":[)";
  const char* separator = "";
  for (const PredictedPicture& picture : pictures) {
    const std::string content =
        picture.result ? fields_of(picture)
                       : fmt::format(R"("error":{{"code":"{}","message":{}}})",
                                     picture.failure.code, to_json(picture.failure.message));
    append_format(body, R"({}{{"file":{},{}}})", separator, to_json(picture.name), content);
    separator = ",";
  }
  return http_text("application/json", body + "]}\n");
}

HttpResponse PredictService::answer_like_torchserve(const std::vector<PredictedPicture>& pictures) {
  const PredictedPicture& picture = pictures.front();
  if (!picture.result) return failure_of(picture);
  use(picture.result->model);
  std::string body = "{";
  const auto& top = picture.result->top;
  for (std::size_t i = 0; i < std::min(top.size(), kTorchServeRows); ++i) {
    append_format(body, R"({}{}:{:.6f})", i == 0 ? "" : ",", labels_.at(top[i].index),
                  top[i].score);
  }
  return http_text("application/json", body + "}\n");
}

}  // namespace lookout
