// Teaching over HTTP: what an owner's page and programs do below /api/1/teach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/core/mutex.h"
#include "platform/history/history_reader.h"
#include "platform/http/background_work.h"
#include "platform/http/http_message.h"
#include "platform/http/login_service.h"
#include "platform/http/teach_json.h"
#include "platform/teach/teach_reporter.h"
#include "platform/teach/teach_trainer.h"
#include "platform/teach/teaching.h"

namespace lookout {

struct TeachServiceOptions {
  std::shared_ptr<Teaching> teaching;     // null: nothing can be taught
  std::shared_ptr<TeachTrainer> trainer;  // null: no models are trained
  std::string damage;                     // what was lost before this run; empty: nothing
  std::string damaged_file{};             // where that is kept
  std::function<TeachNow()> clocks = TeachReporter::read_clocks;
  // The picture of the event of that watch and number; nothing: there is none. Called by any
  // thread; throws SqliteError when the history cannot be read. Empty: there is no history.
  std::function<std::optional<EventPicture>(const std::string& watch, std::int64_t number)>
      event_picture;
};

// All routes are for owners. While there is no password, there are no such routes. Used by the
// server's thread alone; what needs the disk is done by the thread "teaching", in the order in
// which it came.
class TeachService {
 public:
  // Has room for kMaxMarks marks with the longest labels, however JSON writes their characters.
  static constexpr std::size_t kMaxBody = 384 << 10;
  static constexpr std::size_t kMaxWaiting = 32;    // requests
  static constexpr std::size_t kMaxPictures = 100;  // of an answer
  static constexpr int kThumbSide = 320;            // pixels, of the longer side

  // `login` outlives this. There is a teaching. Throws as BackgroundWork.
  TeachService(LoginService& login, TeachServiceOptions options);

  void set_wake(std::function<void()> wake) { work_.set_wake(std::move(wake)); }
  void poll() { work_.deliver(); }

  // The route of a path, of a few names: "/api/1/teach/watches/NAME". Null: it is not of this
  // service.
  const char* route(std::string_view path) const;
  // The answer to a request for one of them that is not allowed, by its header alone.
  std::optional<HttpResponse> refusal(const HttpRequest& request);
  // Answers a request for one of them that was not refused. `configured`: names of what the run
  // watches without being taught.
  void handle(const HttpRequest& request, std::vector<std::string> configured,
              const HttpRespond& respond);

 private:
  struct Asked;
  using Answer = HttpResponse (TeachService::*)(const Asked& asked);
  struct Route {
    const char* method;
    const char* path;  // NAME is a watch, NUMBER a hold or a picture
    Answer answer;
    bool at_once = false;  // it needs neither the disk nor long
  };
  static const Route kRoutes[];
  struct Found;

  // Nothing: the path is not of this service.
  static std::optional<Found> find(std::string_view method, std::string_view path);
  HttpResponse answer(const Route& route, const Asked& asked);
  void log_problem(const std::string& problem) EXCLUDES(problem_mutex_);
  TeachTrainer& trainer();
  WatchFacts facts_of(const std::string& name);
  HttpResponse watch_answer(const std::string& name, int status = 200);
  void check_not_fixed(const std::string& name, const Asked& asked);

  HttpResponse overview(const Asked& asked);
  HttpResponse add_watch(const Asked& asked);
  HttpResponse change_watch(const Asked& asked);
  HttpResponse remove_watch(const Asked& asked);
  HttpResponse restore_watch(const Asked& asked);
  HttpResponse rename_class(const Asked& asked);
  HttpResponse begin_hold(const Asked& asked);
  HttpResponse renew_hold(const Asked& asked);
  HttpResponse release_hold(const Asked& asked);
  HttpResponse pictures(const Asked& asked);
  HttpResponse change_pictures(const Asked& asked);
  HttpResponse picture(const Asked& asked);
  HttpResponse teach_event(const Asked& asked);
  EventPicture event_picture(const std::string& watch, std::int64_t number) const;
  HttpResponse begin_job(const Asked& asked);
  HttpResponse cancel_job(const Asked& asked);
  HttpResponse use_model(const Asked& asked);
  HttpResponse preview(const Asked& asked);

  LoginService& login_;
  const std::shared_ptr<Teaching> teaching_;
  const std::shared_ptr<TeachTrainer> trainer_;
  const std::string damage_;
  const std::string damaged_file_;
  const std::function<TeachNow()> clocks_;
  const decltype(TeachServiceOptions::event_picture) event_picture_;
  Mutex problem_mutex_;
  std::string last_problem_ GUARDED_BY(problem_mutex_);  // the same one again is not logged
  BackgroundWork work_{"teaching", kMaxWaiting};
};

}  // namespace lookout
