#include "platform/mqtt/mqtt_feed.h"

#include <algorithm>
#include <utility>

#include "pipeline/core/log.h"
#include "platform/mqtt/mqtt_topics.h"
#include "platform/pictures/encode_picture.h"

namespace lookout {
namespace {

constexpr int kPictureQuality = 80;  // of JPEG
constexpr const char* kOnline = "online";

bool is_due(std::optional<Clock::time_point>& time, Clock::time_point now) {
  if (!time || now < *time) return false;
  time.reset();
  return true;
}

}  // namespace

void MqttSwitch::command(bool enabled, Clock::time_point now) {
  if (!can_switch()) return;
  if (now - last_command_ >= kRest) lines_ = 0;
  last_command_ = now;
  wanted_ = enabled;
}

bool MqttSwitch::advance(Clock::time_point now) {
  if (!wanted_ || now < next_) return false;
  next_ = now + kBetween;
  const bool wanted = *std::exchange(wanted_, std::nullopt);
  const bool changes = std::exchange(enabled_, wanted) != wanted;
  if (changes && ++lines_ <= kLines + 1) log();
  enable_(wanted);
  return true;
}

void MqttSwitch::log() const {
  if (lines_ > kLines) {
    log_warn(
        "mqtt: commands switch the camera on and off again and again: not logged any more until "
        "there is none for a minute; is an automation to blame?");
    return;
  }
  log_info("mqtt: {} by a command", enabled_ ? "switched on" : "switched off");
}

MqttFeed::MqttFeed(MqttSlots& slots, MqttLink& link, MqttCounters& counters,
                   MqttFeedOptions options)
    : slots_(slots),
      link_(link),
      counters_(counters),
      options_(std::move(options)),
      owner_(options_.machine),
      switch_(options_.enable),
      camera_{JsonFormat(options_.info), options_.pictures,
              [this](MqttMessage message) { publish(std::move(message)); }} {
  link_.set_handlers(
      {[this] { on_connected(); }, [this](const MqttMessage& message) { hear(message); }});
}

// With each connection. What is retained on the other topics comes before the owner.
void MqttFeed::on_connected() {
  const MqttTopics& topics = options_.topics;
  begun_ = false;
  counters_.publishes = false;
  link_.subscribe(topics.available);
  if (!ever_begun_) {
    link_.subscribe(topics.state);
    for (const auto& watch : watches_) {
      if (has_names()) link_.subscribe(watch->topics().state);
    }
    link_.subscribe(topics.watches);
  }
  link_.subscribe(topics.owner);
  owner_.ask(options_.now());
  if (!topics.birth.empty()) link_.subscribe(topics.birth);
  if (options_.commands) {
    link_.subscribe(topics.set_enabled);
    link_.subscribe(topics.take_snapshot);
  }
}

void MqttFeed::hear(const MqttMessage& message) {
  const MqttTopics& topics = options_.topics;
  if (message.topic == topics.owner) {
    owner_.hear(message.payload, message.retained, options_.now());
  } else if (message.topic == topics.available) {
    // Another machine's will, or a connection of ours that the broker gave up late, may overwrite
    // it.
    if (!publishes()) {
      others_available_ = message.payload;
    } else if (message.payload != kOnline) {
      available_again_ = std::max(options_.now(), next_correction_);
    }
  } else {
    if (!ever_begun_) hear_what_was(message);
    execute(message);
  }
}

// What a run before this one has left.
void MqttFeed::hear_what_was(const MqttMessage& message) {
  const MqttTopics& topics = options_.topics;
  if (message.topic == topics.watches) watched_before_ = watch_names(message.payload);
  if (message.topic == topics.state) unnamed_before_ = !message.payload.empty();
  for (const auto& watch : watches_) {
    if (message.topic == watch->topics().state) watch->hear_state(message.payload);
  }
}

void MqttFeed::execute(const MqttMessage& message) {
  const auto command = parse_command(message, options_.topics, options_.commands);
  if (!command || !publishes()) return;
  const auto now = options_.now();
  switch (*command) {
    case MqttCommand::kRepublish:
      republish_soon();
      break;
    case MqttCommand::kEnable:
    case MqttCommand::kDisable:
      switch_.command(*command == MqttCommand::kEnable, now);
      break;
    case MqttCommand::kSnapshot:
      if (!options_.pictures || now < next_asked_picture_) break;
      next_asked_picture_ = now + kBetweenAskedPictures;
      slots_.ask_for_picture();
      break;
  }
}

void MqttFeed::advance() {
  const MqttNews news = slots_.take();
  if (news.watches) take_watches(*news.watches);
  settle_owner();
  if (news.status) {
    online_ = news.status->online;
    publish_camera();
  }
  for (const MqttWatchNews& each : news.of_watches) {
    MqttWatch* const watch = find(each.watch);
    if (watch == nullptr) continue;
    const bool with_picture = news.picture && is_for(*news.picture, *watch);
    counters_.dropped += watch->take(each, with_picture, publishes());
  }
  if (news.picture) take_picture(*news.picture);
  if (news.stats) take_stats(*news.stats);
  do_what_is_due();
}

void MqttFeed::settle_owner() {
  if (!link_.connected()) return;
  if (auto claim = owner_.advance(options_.now())) {
    link_.publish({options_.topics.owner, std::move(*claim), /*qos=*/1, /*retained=*/true});
  }
  if (owner_.state() == MqttOwner::State::kTheirs) return give_way();
  if (owner_.state() != MqttOwner::State::kOurs || begun_) return;
  if (link_.has_will()) return begin();
  link_.reconnect(/*with_will=*/true);
}

void MqttFeed::give_way() {
  const MqttTopics& topics = options_.topics;
  // Home Assistant keeps the other one of two devices with the same topics.
  if (!topics.config.empty()) publish(topics.config, "", /*retained=*/true);
  begun_ = false;
  counters_.publishes = false;
  if (link_.has_will()) link_.reconnect(/*with_will=*/false);
  if (std::exchange(others_logged_, true)) return;
  // Anybody may have written something else.
  const std::string& available = others_available_;
  const bool is_known = available == kOnline || available == "offline" || available == "stopped";
  log_warn(
      "mqtt: {} belongs to {}{}: nothing is published until one of the two cameras has another "
      "camera.name or, when the other one is gone for good, 'lookout mqtt forget --all-machines "
      "--set camera.name={}' has removed it",
      printable(topics.base), to_text(owner_.other()), is_known ? ", which is " + available : "",
      printable(options_.info.camera));
}

void MqttFeed::begin() {
  begun_ = true;
  counters_.publishes = true;
  log_debug("mqtt: {} is this machine's", options_.topics.base);
  if (others_logged_) log_info("mqtt: {} is free now: publishing", options_.topics.base);
  others_logged_ = false;
  available_again_.reset();
  const bool is_first = !ever_begun_;
  if (is_first) find_removed();
  ever_begun_ = true;
  discovery_ = describe();
  publish_all();
  // Home Assistant may have told of its start while the broker was away.
  if (!is_first && !gone_.empty()) republish_soon();
  // What happened until now is one change. After a loss of the connection it would come late.
  if (!is_first) return;
  for (const auto& watch : watches_) watch->publish_start();
}

// By what the broker has of runs before. It is not listened to any more.
void MqttFeed::find_removed() {
  const MqttTopics& topics = options_.topics;
  link_.unsubscribe(topics.state);
  link_.unsubscribe(topics.watches);
  for (const auto& watch : watches_) {
    if (has_names()) link_.unsubscribe(watch->topics().state);
  }
  removed_.insert(watched_before_.begin(), watched_before_.end());
  if (has_names() && unnamed_before_) removed_.insert("");
  for (const auto& watch : watches_) removed_.erase(watch->name());
  gone_ = removed_;
  // Runs without names leave no list.
  if (has_names() && watched_before_.empty()) removed_.insert("");
}

void MqttFeed::do_what_is_due() {
  const auto now = options_.now();
  for (const auto& watch : watches_) watch->want_what_is_due(now);
  if (switch_.advance(now)) publish_enabled();
  if (!publishes()) return;
  if (is_due(available_again_, now)) {
    next_correction_ = now + kBetweenCorrections;
    publish(options_.topics.available, kOnline, /*retained=*/true);
  }
  if (is_due(removed_again_, now)) settle_removed();
  if (is_due(gone_again_, now)) remove_gone();
  if (is_due(forget_gone_, now)) forget_gone();
  if (is_due(republish_at_, now)) welcome();
  if (is_due(stats_again_, now)) publish_stats();
  for (const auto& watch : watches_) watch->publish_what_is_due(now);
}

Clock::time_point MqttFeed::next_due() const {
  auto due = switch_.next_due();
  if (link_.connected()) due = std::min(due, owner_.next_due());
  for (const auto& watch : watches_) due = std::min(due, watch->next_due(publishes()));
  if (!publishes()) return due;
  for (const auto& time :
       {republish_at_, stats_again_, removed_again_, gone_again_, forget_gone_, available_again_}) {
    if (time) due = std::min(due, *time);
  }
  return due;
}

MqttWatch* MqttFeed::find(const std::string& watch) const {
  for (const auto& each : watches_) {
    if (each->name() == watch) return each.get();
  }
  return nullptr;
}

void MqttFeed::take_watches(const std::vector<MqttWatching>& watches) {
  std::vector<std::unique_ptr<MqttWatch>> before = std::exchange(watches_, {});
  list_.clear();
  for (const MqttWatching& watching : watches) {
    list_.push_back(watching.watching);
    const std::string name(watching.name());
    const auto same = std::find_if(before.begin(), before.end(), [&name](const auto& watch) {
      return watch && watch->name() == name;
    });
    if (same != before.end()) {
      watches_.push_back(std::move(*same));
      watches_.back()->use(watching.wants);
      continue;
    }
    removed_.erase(name);
    gone_.erase(name);
    gone_before_.erase(name);
    watches_.push_back(
        std::make_unique<MqttWatch>(watch_topics(options_.topics, name), watching, camera_));
    if (!ever_begun_ && !name.empty()) link_.subscribe(watches_.back()->topics().state);
  }
  for (const auto& watch : before) {
    if (!watch || !ever_begun_) continue;
    if (removed_.size() < kMaxRemoved) removed_.insert(watch->name());
    if (gone_.size() < kMaxRemoved) gone_.insert(watch->name());
  }
  const std::string described = std::exchange(discovery_, describe());
  if (!publishes()) return;
  if (discovery_ != described) publish_discovery();
  publish_removed();
  publish_watches();
}

bool MqttFeed::is_for(const MqttPicture& picture, const MqttWatch& watch) const {
  // Without names, what is asked for is the watch's, too.
  if (picture.asked && !has_names()) return true;
  const auto& watches = picture.watches;
  return std::find(watches.begin(), watches.end(), watch.name()) != watches.end();
}

void MqttFeed::take_picture(const MqttPicture& picture) {
  const std::string jpeg = encode_jpeg(turned(picture.bgr, options_.view), kPictureQuality);
  for (const auto& watch : watches_) {
    if (is_for(picture, *watch)) watch->take_picture(jpeg, options_.now());
  }
  if (!picture.asked || !has_names()) return;
  asked_ = jpeg;
  publish(options_.topics.snapshot, asked_, /*retained=*/false);
}

void MqttFeed::take_stats(const StatsSnapshot& stats) {
  stats_.clear();
  if (!list_.empty()) camera_.format.use(list_.front().model);
  camera_.format.append(stats, stats_);
  stats_ = without_newline(std::move(stats_));
  publish_stats();
  for (const auto& watch : watches_) watch->want_result();
}

std::string MqttFeed::describe() const {
  return options_.discovery && !list_.empty() ? options_.discovery(list_, removed_) : "";
}

void MqttFeed::publish_all() {
  publish(options_.topics.available, kOnline, /*retained=*/true);
  publish_discovery();
  publish_removed();
  publish_watches();
  publish_enabled();
  publish_camera();
  for (const auto& watch : watches_) watch->publish_all();
  if (!asked_.empty()) publish(options_.topics.snapshot, asked_, /*retained=*/false);
  publish_stats();
  stats_again_ = options_.now() + kListening;
}

// Home Assistant has started, or may have.
void MqttFeed::republish_soon() {
  republish_at_ = options_.now() +
                  std::chrono::duration_cast<Clock::duration>(kRepublishWithin * options_.random());
  gone_before_ = gone_;
  gone_again_.reset();
  forget_gone_.reset();
}

// Of entities that went while it was off Home Assistant keeps what it remembers, until it hears of
// them as of any others, and then that they are gone.
void MqttFeed::welcome() {
  publish_all();
  if (gone_before_.empty() || discovery_.empty()) return;
  WatchList watches = list_;
  for (const std::string& name : gone_before_) {
    WatchInfoPtr watch;
    if (!name.empty()) watch = std::make_shared<WatchInfo>(WatchInfo{name, {}});
    watches.push_back({std::move(watch), list_.front().model});
  }
  // Not retained: only Home Assistant is to know.
  publish(options_.topics.config, options_.discovery(watches, {}), /*retained=*/false);
  gone_again_ = options_.now() + kListening;
}

void MqttFeed::remove_gone() {
  // Of the messages about a device the last one alone waits for a slow broker.
  if (!link_.idle()) {
    gone_again_ = options_.now() + kListening;
    return;
  }
  removed_.insert(gone_before_.begin(), gone_before_.end());
  discovery_ = describe();
  publish_discovery();
  publish_removed();
  forget_gone_ = options_.now() + kRemembering;
}

// What went after Home Assistant's start stays for the next one: it may be off since.
void MqttFeed::forget_gone() {
  for (const std::string& name : gone_before_) gone_.erase(name);
  gone_before_.clear();
}

void MqttFeed::publish_discovery() {
  if (!discovery_.empty()) publish(options_.topics.config, discovery_, /*retained=*/true);
}

// Whoever listens to topics of entities has been told that these are gone.
void MqttFeed::publish_removed() {
  if (removed_.empty()) return;
  for (const std::string& name : removed_) {
    const MqttWatchTopics topics = watch_topics(options_.topics, name);
    for (const std::string& topic : {topics.attributes, topics.snapshot, topics.state}) {
      publish(topic, "", /*retained=*/true);
    }
  }
  removals_ = kRemovals;
  removed_again_ = options_.now() + kListening;
}

// For the next run, behind what was removed and before what is new. Runs without names have no
// list.
void MqttFeed::publish_watches() {
  if (!has_names() && removed_.empty()) return;
  std::vector<std::string> names;
  for (const auto& watch : watches_) names.push_back(watch->name());
  publish(options_.topics.watches, has_names() ? watches_payload(names) : "", /*retained=*/true);
}

// What was removed is forgotten when the broker has passed it on.
void MqttFeed::settle_removed() {
  const bool passed_on = link_.idle();
  if (passed_on && --removals_ == 0) {
    removed_.clear();
  } else {
    removed_again_ = options_.now() + kListening;
  }
  if (!passed_on) return;
  discovery_ = describe();
  publish_discovery();
}

void MqttFeed::publish_enabled() {
  if (!options_.commands || !switch_.can_switch()) return;
  publish(options_.topics.enabled, switch_.enabled() ? "ON" : "OFF", /*retained=*/true);
}

void MqttFeed::publish_camera() {
  publish(options_.topics.camera, online_ ? "online" : "offline", /*retained=*/true);
}

void MqttFeed::publish_stats() {
  if (!stats_.empty()) publish(options_.topics.stats, stats_, /*retained=*/false, /*qos=*/0);
}

void MqttFeed::publish(const std::string& topic, std::string payload, bool retained, int qos) {
  publish({topic, std::move(payload), qos, retained});
}

void MqttFeed::publish(MqttMessage message) {
  if (publishes()) link_.publish(std::move(message));
}

void MqttFeed::stop() { publish(options_.topics.available, "stopped", /*retained=*/true); }

}  // namespace lookout
