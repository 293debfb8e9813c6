// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/hyprof_perfetto_session.hpp - Perfetto's sessions and settings, without effect
 *
 * Way of the data:  program -> [hyprof_perfetto_session.hpp]: a line in the recording that says so
 *
 * hyprof record starts and ends the recording.  A session reads a whole trace with nothing in it.
 * Included by perfetto.h.
 */
#ifndef HYPROF_PERFETTO_SESSION_HPP
#define HYPROF_PERFETTO_SESSION_HPP

#include "../../hyprof.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace perfetto
{

enum BackendType : uint32_t {
        kUnspecifiedBackend = 0,
        kInProcessBackend = 1 << 0,
        kSystemBackend = 1 << 1,
        kCustomBackend = 1 << 2
};

struct TracingError {
        enum ErrorCode : uint32_t { kDisconnected = 1, kTracingFailed = 2 };
        ErrorCode code;
        std::string message;
};

struct TracingInitArgs {
        uint32_t backends = 0;
        void *platform = nullptr;
        void *custom_backend = nullptr;
        void *tracing_policy = nullptr;
        void *log_message_callback = nullptr;
        uint32_t machine_id = 0;
        uint32_t shmem_size_hint_kb = 0, shmem_page_size_hint_kb = 0, shmem_batch_commits_duration_ms = 0;
        bool shmem_direct_patching_enabled = false, supports_multiple_data_source_instances = true;
        bool use_monotonic_clock = false, use_monotonic_raw_clock = false, enable_system_consumer = true;
        bool disallow_merging_with_system_tracks = false;
        std::optional<uint64_t> process_uuid = std::nullopt;
};

namespace hyprof_
{

/* A message of settings, whichever: its members take anything and keep nothing. */
#define HYPROF_PERFETTO_SET_(name)               \
        template <class... T> void name(T &&...) \
        {                                        \
        }
#define HYPROF_PERFETTO_PART_(name)                   \
        template <class... T> accepted *name(T &&...) \
        {                                             \
                return this;                          \
        }

class accepted
{
      public:
        enum FillPolicy { UNSPECIFIED = 0, RING_BUFFER = 1, DISCARD = 2 };
        enum KsymsMemPolicy { KSYMS_UNSPECIFIED = 0, KSYMS_CLEANUP_ON_STOP = 1, KSYMS_RETAIN = 2 };

        std::string SerializeAsString() const
        {
                return std::string();
        }
        std::vector<uint8_t> SerializeAsArray() const
        {
                return std::vector<uint8_t>();
        }
        template <class... T> bool ParseFromString(T &&...)
        {
                return true;
        }
        template <class... T> bool ParseFromArray(T &&...)
        {
                return true;
        }

        HYPROF_PERFETTO_PART_(add_buffers)
        HYPROF_PERFETTO_PART_(add_data_sources)
        HYPROF_PERFETTO_PART_(add_producers)
        HYPROF_PERFETTO_PART_(add_triggers)
        HYPROF_PERFETTO_PART_(mutable_config)
        HYPROF_PERFETTO_PART_(mutable_chrome_config)
        HYPROF_PERFETTO_PART_(mutable_incremental_state_config)
        HYPROF_PERFETTO_PART_(mutable_builtin_data_sources)
        HYPROF_PERFETTO_PART_(mutable_guardrail_overrides)
        HYPROF_PERFETTO_PART_(mutable_interceptor_config)
        HYPROF_PERFETTO_PART_(mutable_track_event_config)
        HYPROF_PERFETTO_PART_(mutable_trigger_config)

        HYPROF_PERFETTO_SET_(add_atrace_apps)
        HYPROF_PERFETTO_SET_(add_atrace_categories)
        HYPROF_PERFETTO_SET_(add_disabled_categories)
        HYPROF_PERFETTO_SET_(add_disabled_tags)
        HYPROF_PERFETTO_SET_(add_enabled_categories)
        HYPROF_PERFETTO_SET_(add_enabled_tags)
        HYPROF_PERFETTO_SET_(add_ftrace_events)
        HYPROF_PERFETTO_SET_(add_function_filters)
        HYPROF_PERFETTO_SET_(add_function_graph_roots)
        HYPROF_PERFETTO_SET_(add_producer_name_filter)
        HYPROF_PERFETTO_SET_(add_producer_name_regex_filter)
        HYPROF_PERFETTO_SET_(set_buffer_size_kb)
        HYPROF_PERFETTO_SET_(set_clear_before_clone)
        HYPROF_PERFETTO_SET_(set_clear_period_ms)
        HYPROF_PERFETTO_SET_(set_compression_type)
        HYPROF_PERFETTO_SET_(set_data_source_stop_timeout_ms)
        HYPROF_PERFETTO_SET_(set_disable_incremental_timestamps)
        HYPROF_PERFETTO_SET_(set_drain_period_ms)
        HYPROF_PERFETTO_SET_(set_duration_ms)
        HYPROF_PERFETTO_SET_(set_enable_extra_guardrails)
        HYPROF_PERFETTO_SET_(set_enable_function_graph)
        HYPROF_PERFETTO_SET_(set_enable_thread_time_sampling)
        HYPROF_PERFETTO_SET_(set_file_write_period_ms)
        HYPROF_PERFETTO_SET_(set_fill_policy)
        HYPROF_PERFETTO_SET_(set_filter_debug_annotations)
        HYPROF_PERFETTO_SET_(set_filter_dynamic_event_names)
        HYPROF_PERFETTO_SET_(set_flush_period_ms)
        HYPROF_PERFETTO_SET_(set_flush_timeout_ms)
        HYPROF_PERFETTO_SET_(set_ftrace_config_raw)
        HYPROF_PERFETTO_SET_(set_ksyms_mem_policy)
        HYPROF_PERFETTO_SET_(set_legacy_config)
        HYPROF_PERFETTO_SET_(set_max_file_size_bytes)
        HYPROF_PERFETTO_SET_(set_name)
        HYPROF_PERFETTO_SET_(set_notify_traceur)
        HYPROF_PERFETTO_SET_(set_output_path)
        HYPROF_PERFETTO_SET_(set_prefer_suspend_clock_for_duration)
        HYPROF_PERFETTO_SET_(set_primary_trace_clock)
        HYPROF_PERFETTO_SET_(set_proc_stats_poll_ms)
        HYPROF_PERFETTO_SET_(set_process_stats_config_raw)
        HYPROF_PERFETTO_SET_(set_producer_name)
        HYPROF_PERFETTO_SET_(set_record_thread_names)
        HYPROF_PERFETTO_SET_(set_scan_all_processes_on_start)
        HYPROF_PERFETTO_SET_(set_shm_size_kb)
        HYPROF_PERFETTO_SET_(set_size_kb)
        HYPROF_PERFETTO_SET_(set_snapshot_interval_ms)
        HYPROF_PERFETTO_SET_(set_stop_timeout_ms)
        HYPROF_PERFETTO_SET_(set_symbolize_ksyms)
        HYPROF_PERFETTO_SET_(set_target_buffer)
        HYPROF_PERFETTO_SET_(set_target_buffer_name)
        HYPROF_PERFETTO_SET_(set_timestamp_unit_multiplier)
        HYPROF_PERFETTO_SET_(set_trace_config)
        HYPROF_PERFETTO_SET_(set_track_event_config)
        HYPROF_PERFETTO_SET_(set_track_event_config_raw)
        HYPROF_PERFETTO_SET_(set_trigger_mode)
        HYPROF_PERFETTO_SET_(set_unique_session_name)
        HYPROF_PERFETTO_SET_(set_write_into_file)
};

#undef HYPROF_PERFETTO_PART_
#undef HYPROF_PERFETTO_SET_

} // namespace hyprof_

class TraceConfig : public hyprof_::accepted
{
      public:
        using BufferConfig = hyprof_::accepted;
        using DataSource = hyprof_::accepted;
};
using DataSourceConfig = hyprof_::accepted;

namespace protos
{
namespace gen
{
using DataSourceConfig = hyprof_::accepted;
using FtraceConfig = hyprof_::accepted;
using ProcessStatsConfig = hyprof_::accepted;
using TraceConfig = ::perfetto::TraceConfig;
using TrackEventConfig = hyprof_::accepted;
constexpr auto TraceConfig_BufferConfig_FillPolicy_RING_BUFFER = hyprof_::accepted::RING_BUFFER;
constexpr auto TraceConfig_BufferConfig_FillPolicy_DISCARD = hyprof_::accepted::DISCARD;
} // namespace gen
} // namespace protos

/* Programs derive a class to hear of sessions.  Events wait for none, so one is reported at once. */
class DataSourceBase
{
      public:
        struct SetupArgs {
                const DataSourceConfig *config = nullptr;
                uint32_t internal_instance_index = 0;
        };
        struct StartArgs {
                uint32_t internal_instance_index = 0;
        };
        struct StopArgs {
                uint32_t internal_instance_index = 0;
                std::function<void()> HandleStopAsynchronously() const
                {
                        return [] {};
                }
        };
        struct WillClearIncrementalStateArgs {
                uint32_t internal_instance_index = 0;
        };
};

class TrackEventSessionObserver
{
      public:
        virtual ~TrackEventSessionObserver() = default;
        virtual void OnSetup(const DataSourceBase::SetupArgs &)
        {
        }
        virtual void OnStart(const DataSourceBase::StartArgs &)
        {
        }
        virtual void OnStop(const DataSourceBase::StopArgs &)
        {
        }
        virtual void WillClearIncrementalState(const DataSourceBase::WillClearIncrementalStateArgs &)
        {
        }
};

class TracingSession
{
      public:
        struct ReadTraceCallbackArgs {
                const char *data = nullptr;
                size_t size = 0;
                bool has_more = false;
        };
        struct GetTraceStatsCallbackArgs {
                bool success = false;
                std::vector<uint8_t> trace_stats_data;
        };
        struct QueryServiceStateCallbackArgs {
                bool success = false;
                std::vector<uint8_t> service_state_data;
        };

        virtual ~TracingSession() = default;
        virtual void Setup(const TraceConfig &, int = -1)
        {
                static const char key[] = "session of Perfetto";
                static const char value[] = "of no effect: this recording has its events";

                hyprof_program_value(key, value);
        }
        virtual void Start()
        {
                if (on_start_)
                        on_start_();
        }
        virtual void StartBlocking()
        {
                Start();
        }
        virtual void SetOnStartCallback(std::function<void()> callback)
        {
                on_start_ = std::move(callback);
        }
        virtual void SetOnStopCallback(std::function<void()> callback)
        {
                on_stop_ = std::move(callback);
        }
        virtual void SetOnErrorCallback(std::function<void(TracingError)>)
        {
        }
        virtual void Flush(std::function<void(bool)> callback, uint32_t = 0)
        {
                if (callback)
                        callback(true);
        }
        bool FlushBlocking(uint32_t = 0)
        {
                return true;
        }
        virtual void Stop()
        {
                if (on_stop_)
                        on_stop_();
        }
        virtual void StopBlocking()
        {
                Stop();
        }
        virtual void ChangeTraceConfig(const TraceConfig &)
        {
        }
        virtual void ReadTrace(std::function<void(ReadTraceCallbackArgs)> callback)
        {
                const std::vector<char> all = ReadTraceBlocking();

                callback({ all.data(), all.size(), false });
        }
        /* One packet without contents: programs take the address of the first byte. */
        std::vector<char> ReadTraceBlocking()
        {
                return { 0x0a, 0x00 };
        }
        virtual void GetTraceStats(std::function<void(GetTraceStatsCallbackArgs)> callback)
        {
                callback(GetTraceStatsCallbackArgs());
        }
        GetTraceStatsCallbackArgs GetTraceStatsBlocking()
        {
                return GetTraceStatsCallbackArgs();
        }
        virtual void QueryServiceState(std::function<void(QueryServiceStateCallbackArgs)> callback)
        {
                callback(QueryServiceStateCallbackArgs());
        }
        QueryServiceStateCallbackArgs QueryServiceStateBlocking()
        {
                return QueryServiceStateCallbackArgs();
        }

      private:
        std::function<void()> on_start_, on_stop_;
};

class StartupTracingSession
{
      public:
        virtual ~StartupTracingSession() = default;
        virtual void Abort()
        {
        }
        virtual void AbortBlocking()
        {
        }
};

class Tracing
{
      public:
        struct OnStartupTracingSetupCallbackArgs {
                int num_data_sources_started = 0;
        };
        struct SetupStartupTracingOpts {
                BackendType backend = kUnspecifiedBackend;
                uint32_t timeout_ms = 10000;
                std::function<void(OnStartupTracingSetupCallbackArgs)> on_setup;
                std::function<void()> on_aborted, on_adopted;
        };

        static void Initialize(const TracingInitArgs &)
        {
                is_initialized().store(true);
        }
        static bool IsInitialized()
        {
                return is_initialized().load();
        }
        static void Shutdown()
        {
                is_initialized().store(false);
        }
        static std::unique_ptr<TracingSession> NewTrace(BackendType = kUnspecifiedBackend)
        {
                return std::make_unique<TracingSession>();
        }
        static std::unique_ptr<StartupTracingSession> SetupStartupTracing(const TraceConfig &,
                                                                          SetupStartupTracingOpts options)
        {
                if (options.on_setup)
                        options.on_setup(OnStartupTracingSetupCallbackArgs());
                return std::make_unique<StartupTracingSession>();
        }
        static std::unique_ptr<StartupTracingSession> SetupStartupTracingBlocking(
                const TraceConfig &config, SetupStartupTracingOpts options)
        {
                return SetupStartupTracing(config, std::move(options));
        }
        static void ActivateTriggers(const std::vector<std::string> &, uint32_t)
        {
        }

      private:
        static std::atomic<bool> &is_initialized()
        {
                static std::atomic<bool> is;

                return is;
        }
};

/* The SDK prints events with it. */
class ConsoleInterceptor
{
      public:
        static void Register()
        {
        }
};

} // namespace perfetto

/* Programs print with these; to standard error, as the SDK does. */
#define PERFETTO_LOG(...)   ((void)std::fprintf(stderr, __VA_ARGS__), (void)std::fputc('\n', stderr))
#define PERFETTO_ILOG(...)  PERFETTO_LOG(__VA_ARGS__)
#define PERFETTO_ELOG(...)  PERFETTO_LOG(__VA_ARGS__)
#define PERFETTO_FATAL(...) (PERFETTO_LOG(__VA_ARGS__), std::abort())
#ifdef NDEBUG
#define PERFETTO_DLOG(...)   HYPROF_NOTHING_
#define PERFETTO_DCHECK(...) HYPROF_NOTHING_
#else
#define PERFETTO_DLOG(...)   PERFETTO_LOG(__VA_ARGS__)
#define PERFETTO_DCHECK(...) PERFETTO_CHECK(__VA_ARGS__)
#endif
#define PERFETTO_CHECK(...)                  ((__VA_ARGS__) ? HYPROF_NOTHING_ : PERFETTO_FATAL("%s", #__VA_ARGS__))
#define PERFETTO_DEBUG_FUNCTION_IDENTIFIER() __PRETTY_FUNCTION__

#endif // HYPROF_PERFETTO_SESSION_HPP
