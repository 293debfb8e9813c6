// SPDX-License-Identifier: MIT
//
// w_perfetto
//
// A program that knows Perfetto's SDK alone: every macro and class of it that the header in its place has.
//
// Truth: what tests/integration/perfetto_compat.sh lists.  It prints the same with and without a recorder:
// "lazy" says that arguments were evaluated only with one.
#include "w_perfetto_categories.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

PERFETTO_TRACK_EVENT_STATIC_STORAGE();
PERFETTO_TRACK_EVENT_STATIC_STORAGE_IN_NAMESPACE(other);

namespace
{

enum class color { red = 3 };

struct point {
        int x, y;
        void WriteIntoTrace(perfetto::TracedValue context) const
        {
                auto dictionary = std::move(context).WriteDictionary();

                dictionary.Add("x", x);
                dictionary.Add("y", y);
        }
};

struct own_time {
        uint64_t boot_ns;
};

int n_evaluated;

int evaluated(int number)
{
        n_evaluated++;
        return number;
}

class observer : public perfetto::TrackEventSessionObserver
{
      public:
        void OnStart(const perfetto::DataSourceBase::StartArgs &) override
        {
                n_starts++;
        }
        int n_starts = 0;
};

} // namespace

namespace perfetto
{
template <> struct TraceTimestampTraits<own_time> {
        static TraceTimestamp ConvertTimestampToTraceTimeNs(const own_time &time)
        {
                return { static_cast<uint32_t>(TrackEvent::GetTraceClockId()), time.boot_ns };
        }
};
} // namespace perfetto

static std::unique_ptr<perfetto::TracingSession> start()
{
        perfetto::TracingInitArgs args;
        perfetto::TraceConfig config;
        perfetto::protos::gen::TrackEventConfig events;

        args.backends |= perfetto::kInProcessBackend;
        perfetto::Tracing::Initialize(args);
        (void)perfetto::TrackEvent::Register();
        (void)other::TrackEvent::Register();
        config.add_buffers()->set_size_kb(1024);
        config.add_buffers()->set_fill_policy(perfetto::TraceConfig::BufferConfig::RING_BUFFER);
        events.add_disabled_categories("*");
        events.add_enabled_categories("work");
        auto *source = config.add_data_sources()->mutable_config();
        source->set_name("track_event");
        source->set_track_event_config_raw(events.SerializeAsString());
        auto session = perfetto::Tracing::NewTrace();
        session->Setup(config);
        session->StartBlocking();
        return session;
}

static void slices(int n)
{
        TRACE_EVENT("work", "slices");
        for (int i = 0; i < n; i++) {
                TRACE_EVENT("work", "scoped", "number", i);
                if (i % 2 == 0)
                        TRACE_EVENT("debug", "one statement");
                TRACE_EVENT_BEGIN("work", "half");
                TRACE_EVENT_END("work");
        }
        for (const char *name : { "first", "second" }) {
                TRACE_EVENT_BEGIN("work", perfetto::StaticString(name));
                TRACE_EVENT_END("work", "result", name);
        }
        TRACE_EVENT_BEGIN("work", perfetto::DynamicString(std::string("made ") + std::to_string(n)));
        TRACE_EVENT_END("work");
        TRACE_EVENT(perfetto::DynamicCategory{ "dynamic" }, "dynamic category");
        TRACE_EVENT("work", nullptr, [&](perfetto::EventContext context) {
                auto *annotation = context.event()->add_debug_annotations();

                context.event()->set_name("named by a lambda");
                annotation->set_name("key");
                annotation->set_string_value("value");
        });
}

static void values()
{
        const std::string text("a \"text\"\n");
        const std::vector<int> list{ 1, 2, 3 };
        const std::unique_ptr<int> nothing;
        const std::unique_ptr<point> owner(new point{ 3, 4 });

        TRACE_EVENT("work", "values", "bool", true, "int", -1, "unsigned", 2u, "double", 0.5, "enum",
                    color::red, "string", text, "list", list, "point", point{ 1, 2 }, "null", nothing.get(),
                    "owner", owner, "pointer", &list, "address", static_cast<const void *>(nullptr), "lambda",
                    [](perfetto::TracedValue context) {
                            auto array = std::move(context).WriteArray();

                            array.Append("x");
                            array.AppendDictionary().Add("y", 1);
                    });
        TRACE_EVENT("work", "flow", perfetto::Flow::Global(77), perfetto::TerminatingFlow::Global(78));
}

static void moments()
{
        TRACE_EVENT("work", __func__);
        TRACE_EVENT_INSTANT("work", "moment");
        TRACE_EVENT_INSTANT("work", "moment", "why", "asked");
        TRACE_COUNTER("work", "plain", 1);
        TRACE_COUNTER("work", "plain", 2);
        TRACE_COUNTER("work", perfetto::CounterTrack("memory", "kB").set_unit_multiplier(2), 21);
        TRACE_COUNTER("work", perfetto::CounterTrack("sum").set_is_incremental(), 3);
        TRACE_COUNTER("work", perfetto::CounterTrack("sum").set_is_incremental(), 4);
        TRACE_COUNTER("work", perfetto::DynamicString(std::string("made")), 0.25);
        TRACE_COUNTER("work", "later", perfetto::TrackEvent::GetTraceTimeNs(), 9);
}

static void tracks()
{
        const perfetto::NamedTrack named("requests", 1);
        const perfetto::Track described(4711);
        const uint64_t now = perfetto::TrackEvent::GetTraceTimeNs();
        auto descriptor = described.Serialize();

        descriptor.set_name("described");
        perfetto::TrackEvent::SetTrackDescriptor(described, descriptor);
        TRACE_EVENT_BEGIN("work", "request", named);
        TRACE_EVENT_BEGIN("work", "part", named, "lost", 1);
        TRACE_EVENT_END("work", named);
        std::thread([&] { TRACE_EVENT_END("work", named); }).join();
        TRACE_EVENT_BEGIN("work", "described", described, now - 3000, perfetto::Flow::Global(5));
        TRACE_EVENT_END("work", described, own_time{ now - 1000 });
        TRACE_EVENT_INSTANT("work", "mark", described);
        for (int i = 0; i < 3; i++) {
                TRACE_EVENT_BEGIN("work", "object", perfetto::Track::FromPointer(&i));
                TRACE_EVENT_END("work", perfetto::Track::FromPointer(&i));
        }
        {
                TRACE_EVENT("work", "block of a track", perfetto::Track(9));
        }
        TRACE_EVENT_BEGIN("work", "own track", perfetto::ThreadTrack::Current());
        TRACE_EVENT_END("work", perfetto::ThreadTrack::Current());
        TRACE_EVENT_BEGIN("work", "past", now - 2000);
        TRACE_EVENT_END("work", now - 1000);
}

static void legacy()
{
        TRACE_EVENT0("work", "legacy");
        TRACE_EVENT2(TRACE_DISABLED_BY_DEFAULT("work"), "legacy two", "a", 1, "b", "c");
        TRACE_EVENT_BEGIN1("work", "legacy half", "a", 1);
        TRACE_EVENT_END0("work", "legacy half");
        TRACE_EVENT_INSTANT1("work", "legacy moment", TRACE_EVENT_SCOPE_THREAD, "a", 1);
        TRACE_COUNTER1("work", "legacy counter", 6);
}

int main(int n_args, char **args)
{
        const int n = n_args > 1 ? std::atoi(args[1]) : 10;
        auto session = start();
        auto process = perfetto::ProcessTrack::Current().Serialize();
        auto thread = perfetto::ThreadTrack::Current().Serialize();
        observer watching;

        (void)perfetto::TrackEvent::AddSessionObserver(&watching);
        process.mutable_process()->set_process_name("perfetto program");
        perfetto::TrackEvent::SetTrackDescriptor(perfetto::ProcessTrack::Current(), process);
        thread.mutable_thread()->set_thread_name("perfetto main");
        perfetto::TrackEvent::SetTrackDescriptor(perfetto::ThreadTrack::Current(), thread);
        slices(n);
        values();
        moments();
        tracks();
        legacy();
        {
                PERFETTO_USE_CATEGORIES_FROM_NAMESPACE_SCOPED(other);
                TRACE_EVENT("elsewhere", "other set");
        }
        TRACE_EVENT_END("work"); /* nothing is open */
        TRACE_EVENT_INSTANT("work", "lazy", "value", evaluated(1));
        perfetto::TrackEvent::Flush();
        session->StopBlocking();
        const std::vector<char> trace(session->ReadTraceBlocking());
        std::printf("%d slices, %d starts, %d bytes, %s\n", n, watching.n_starts,
                    static_cast<int>(trace.size()),
                    (n_evaluated == 1) == TRACE_EVENT_CATEGORY_ENABLED("work") ? "lazy" : "not lazy");
        return 0;
}
