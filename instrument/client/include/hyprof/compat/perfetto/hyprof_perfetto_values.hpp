// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/perfetto/hyprof_perfetto_values.hpp - annotations of Perfetto's events as text: {"n":1}
 *
 * Way of the data:  program -> [hyprof_perfetto_values.hpp] -> hyprof_perfetto_events.hpp: texts of zones
 *
 * `hyprof import` writes the annotations of a .pftrace in the same form.  Included by perfetto.h.
 */
#ifndef HYPROF_PERFETTO_VALUES_HPP
#define HYPROF_PERFETTO_VALUES_HPP

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace perfetto
{

/* A string that stays where it is. */
class StaticString
{
      public:
        template <size_t N> constexpr StaticString(const char (&text)[N]) : value(text)
        {
        }
        constexpr StaticString(decltype(nullptr)) : value(nullptr)
        {
        }
        constexpr explicit StaticString(const char *text) : value(text)
        {
        }
        explicit constexpr operator bool() const
        {
                return value != nullptr;
        }

        const char *value;
};

/* A string that is read before the call returns. */
class DynamicString
{
      public:
        explicit DynamicString(const std::string &text) : value(text.data()), length(text.size())
        {
        }
        explicit DynamicString(const char *text) : value(text), length(text ? std::strlen(text) : 0)
        {
        }
        constexpr DynamicString(const char *text, size_t bytes) : value(text), length(bytes)
        {
        }
        constexpr DynamicString() : value(nullptr), length(0)
        {
        }
        explicit constexpr operator bool() const
        {
                return value != nullptr;
        }

        const char *value;
        size_t length;
};

class TracedValue;
class TracedDictionary;
class TracedArray;

/* Programs specialise it for types of their own. */
template <class T, class = void> struct TraceFormatTraits;

template <class T> void WriteIntoTracedValue(TracedValue context, T &&value);

namespace hyprof_
{

constexpr std::string_view view_of(const char *text)
{
        return text ? std::string_view(text) : std::string_view();
}
constexpr std::string_view view_of(StaticString text)
{
        return view_of(text.value);
}
constexpr std::string_view view_of(DynamicString text)
{
        return std::string_view(text.value, text.length);
}
constexpr std::string_view view_of(std::string_view text)
{
        return text;
}
inline std::string_view view_of(const std::string &text)
{
        return text;
}
constexpr std::string_view view_of(decltype(nullptr))
{
        return std::string_view();
}

inline void put_text(std::string &to, std::string_view text)
{
        to += '"';
        for (char c : text) {
                char escaped[8];

                if (c == '"' || c == '\\')
                        to += '\\';
                if (static_cast<unsigned char>(c) < ' ') {
                        (void)std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
                        to += escaped;
                } else {
                        to += c;
                }
        }
        to += '"';
}

inline void put_double(std::string &to, double value)
{
        char digits[32];

        if (std::isfinite(value))
                (void)std::snprintf(digits, sizeof(digits), "%.17g", value);
        to += std::isfinite(value) ? digits : "null";
}

/* The key of a value within brackets that are open. */
inline void put_key(std::string &to, std::string_view key)
{
        if (to.back() != '{')
                to += ',';
        put_text(to, key);
        to += ':';
}

} // namespace hyprof_

/* A place in the text where one value goes; nothing that is written there counts twice. */
class TracedValue
{
      public:
        explicit TracedValue(std::string &to) : to_(&to)
        {
        }
        TracedValue(TracedValue &&other) noexcept : to_(std::exchange(other.to_, nullptr))
        {
        }
        TracedValue(const TracedValue &) = delete;
        TracedValue &operator=(const TracedValue &) = delete;
        TracedValue &operator=(TracedValue &&) = delete;
        ~TracedValue()
        {
                put("null");
        }

        void WriteInt64(int64_t value) &&
        {
                put(std::to_string(value));
        }
        void WriteUInt64(uint64_t value) &&
        {
                put(std::to_string(value));
        }
        void WriteDouble(double value) &&
        {
                if (to_)
                        hyprof_::put_double(*std::exchange(to_, nullptr), value);
        }
        void WriteBoolean(bool value) &&
        {
                put(value ? "true" : "false");
        }
        void WriteString(const char *text) &&
        {
                put_string(hyprof_::view_of(text));
        }
        void WriteString(const char *text, size_t bytes) &&
        {
                put_string(std::string_view(text, bytes));
        }
        void WriteString(std::string_view text) &&
        {
                put_string(text);
        }
        void WriteString(const std::string &text) &&
        {
                put_string(text);
        }
        void WritePointer(const void *value) &&
        {
                put(std::to_string(reinterpret_cast<uintptr_t>(value)));
        }
        inline TracedDictionary WriteDictionary() &&;
        inline TracedArray WriteArray() &&;

      private:
        friend class TracedDictionary;
        friend class TracedArray;

        void put(std::string_view text)
        {
                if (to_)
                        std::exchange(to_, nullptr)->append(text);
        }
        void put_string(std::string_view text)
        {
                if (to_)
                        hyprof_::put_text(*std::exchange(to_, nullptr), text);
        }

        std::string *to_; /* NULL = its value is written */
};

class TracedArray
{
      public:
        TracedArray(TracedValue value) : to_(std::exchange(value.to_, nullptr))
        {
                if (to_)
                        *to_ += '[';
        }
        TracedArray(TracedArray &&other) noexcept : to_(std::exchange(other.to_, nullptr))
        {
        }
        TracedArray(const TracedArray &) = delete;
        TracedArray &operator=(const TracedArray &) = delete;
        ~TracedArray()
        {
                if (to_)
                        *to_ += ']';
        }

        TracedValue AppendItem()
        {
                if (to_->back() != '[')
                        *to_ += ',';
                return TracedValue(*to_);
        }
        template <class T> void Append(T &&value)
        {
                WriteIntoTracedValue(AppendItem(), std::forward<T>(value));
        }
        inline TracedDictionary AppendDictionary();
        TracedArray AppendArray()
        {
                return TracedArray(AppendItem());
        }

      private:
        std::string *to_;
};

class TracedDictionary
{
      public:
        TracedDictionary(TracedValue value) : to_(std::exchange(value.to_, nullptr))
        {
                if (to_)
                        *to_ += '{';
        }
        TracedDictionary(TracedDictionary &&other) noexcept : to_(std::exchange(other.to_, nullptr))
        {
        }
        TracedDictionary(const TracedDictionary &) = delete;
        TracedDictionary &operator=(const TracedDictionary &) = delete;
        ~TracedDictionary()
        {
                if (to_)
                        *to_ += '}';
        }

        template <class Key> TracedValue AddItem(const Key &key)
        {
                hyprof_::put_key(*to_, hyprof_::view_of(key));
                return TracedValue(*to_);
        }
        template <class Key, class T> void Add(const Key &key, T &&value)
        {
                WriteIntoTracedValue(AddItem(key), std::forward<T>(value));
        }
        template <class Key> TracedDictionary AddDictionary(const Key &key)
        {
                return TracedDictionary(AddItem(key));
        }
        template <class Key> TracedArray AddArray(const Key &key)
        {
                return TracedArray(AddItem(key));
        }

      private:
        std::string *to_;
};

inline TracedDictionary TracedValue::WriteDictionary() &&
{
        return TracedDictionary(std::move(*this));
}
inline TracedArray TracedValue::WriteArray() &&
{
        return TracedArray(std::move(*this));
}
inline TracedDictionary TracedArray::AppendDictionary()
{
        return TracedDictionary(AppendItem());
}

namespace hyprof_
{

template <class T> using bare = std::remove_cv_t<std::remove_reference_t<T>>;

/* How a value of a type can be written. */
template <class T, class = void> struct writes_itself : std::false_type {
};
template <class T>
struct writes_itself<T,
                     std::void_t<decltype(std::declval<T &>().WriteIntoTrace(std::declval<TracedValue>()))>>
    : std::true_type {
};
template <class T, class = void> struct has_traits : std::false_type {
};
template <class T>
struct has_traits<T, std::void_t<decltype(TraceFormatTraits<bare<T>>::WriteIntoTrace(
                             std::declval<TracedValue>(), std::declval<T &>()))>> : std::true_type {
};
template <class T, class = void> struct is_range : std::false_type {
};
template <class T>
struct is_range<T, std::void_t<decltype(std::declval<T &>().begin()), decltype(std::declval<T &>().end())>>
    : std::true_type {
};
template <class T, class = void> struct is_text : std::false_type {
};
template <class T>
struct is_text<T, std::void_t<decltype(view_of(std::declval<const T &>()))>> : std::true_type {
};
template <class T, class = void> struct points : std::false_type {
};
template <class T> struct points<T, std::void_t<decltype(std::declval<T &>().get())>> : std::true_type {
};

} // namespace hyprof_

template <class T> void WriteIntoTracedValue(TracedValue context, T &&value)
{
        using type = hyprof_::bare<T>;

        if constexpr (std::is_same_v<type, bool>)
                std::move(context).WriteBoolean(value);
        else if constexpr (hyprof_::has_traits<T>::value)
                TraceFormatTraits<type>::WriteIntoTrace(std::move(context), value);
        else if constexpr (hyprof_::writes_itself<T>::value)
                value.WriteIntoTrace(std::move(context));
        else if constexpr (std::is_floating_point_v<type>)
                std::move(context).WriteDouble(static_cast<double>(value));
        else if constexpr (std::is_enum_v<type>)
                std::move(context).WriteInt64(static_cast<int64_t>(value));
        else if constexpr (std::is_integral_v<type> && std::is_unsigned_v<type>)
                std::move(context).WriteUInt64(value);
        else if constexpr (std::is_integral_v<type>)
                std::move(context).WriteInt64(value);
        else if constexpr (std::is_same_v<type, decltype(nullptr)>)
                std::move(context).WritePointer(nullptr);
        else if constexpr (hyprof_::is_text<type>::value)
                std::move(context).WriteString(hyprof_::view_of(value));
        else if constexpr (std::is_invocable_v<T, TracedValue>)
                value(std::move(context));
        else if constexpr (std::is_invocable_v<T, TracedDictionary>)
                value(std::move(context).WriteDictionary());
        else if constexpr (std::is_invocable_v<T, TracedArray>)
                value(std::move(context).WriteArray());
        else if constexpr (hyprof_::points<T>::value)
                WriteIntoTracedValue(std::move(context), value.get());
        else if constexpr (std::is_pointer_v<type> && std::is_void_v<std::remove_pointer_t<type>>)
                std::move(context).WritePointer(value);
        else if constexpr (std::is_pointer_v<type>) {
                if (value)
                        WriteIntoTracedValue(std::move(context), *value);
                else
                        std::move(context).WritePointer(nullptr);
        } else if constexpr (hyprof_::is_range<T>::value) {
                TracedArray array = std::move(context).WriteArray();

                for (auto &&item : value)
                        array.Append(item);
        } else
                static_assert(!sizeof(type), "hyprof: a value of this type cannot be an annotation");
}

} // namespace perfetto

#endif // HYPROF_PERFETTO_VALUES_HPP
