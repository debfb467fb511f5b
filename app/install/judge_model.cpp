#include "app/install/judge_model.h"

#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>

#include "app/model/models.h"
#include "app/report/json.h"
#include "pipeline/core/classifier.h"
#include "pipeline/core/error.h"
#include "platform/system/process.h"
#include "platform/system/service.h"

namespace lookout {
namespace {

constexpr std::chrono::seconds kLimit{30};

// As deploy/lookout.service.in: MemoryMax=, LimitCORE=.
void limit_memory() {
  const auto pages = static_cast<rlim_t>(::sysconf(_SC_PHYS_PAGES));
  const rlim_t most = pages / 4 * 3 * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  const struct rlimit core { 0, 0 };
  ::setrlimit(RLIMIT_CORE, &core);
#ifdef LOOKOUT_SANITIZED  // whose own memory counts
  static_cast<void>(most);
#else
  const struct rlimit data { most, most };
  ::setrlimit(RLIMIT_DATA, &data);
#endif
}

// An archive is a program: root must not run it.
void become_service_user() {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::geteuid() != 0) return;
  const passwd* user = ::getpwnam(kServiceUser);
  if (user == nullptr) user = ::getpwnam("nobody");
  ::unshare(CLONE_NEWNET);  // refused in some containers
  if (user == nullptr || ::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
      ::setuid(user->pw_uid) != 0) {
    throw Error(ErrorKind::kPermission,
                "a model is not tried as root, and becoming another user "
                "is refused: " +
                    std::generic_category().message(errno));
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // another user's process has lost it
}

std::string judge(const ModelOptions& options) {
  limit_memory();
  become_service_user();
  const NamedModel model = read_archive(options);
  const auto classifier = open_to_describe(model, options);
  const ModelSpec& spec = classifier->spec();
  return to_text(Json{spec.name, spec.labels, model.head != nullptr});
}

}  // namespace

JudgedModel judge_model(const ModelOptions& model) {
  std::string answer;
  try {
    answer = run_in_child(
        "model " + model.file, [&model] { return judge(model); }, kLimit);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInternal) throw;
    throw Error(ErrorKind::kBadData, error.what());
  }
  try {
    const auto json = parse_json(answer);
    return {json.at(0), json.at(1), json.at(2)};
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kBadData, "model " + model.file + ": its process gives no answer");
  }
}

}  // namespace lookout
