// SPDX-License-Identifier: MIT
/*
 * hyprof/compat/client/TracyThread.hpp - tracy::Thread, a thread that is joined when its object goes
 *
 * Way of the data:  program -> [TracyThread.hpp] -> pthreads
 */
#ifndef HYPROF_COMPAT_CLIENT_TRACY_THREAD_HPP
#define HYPROF_COMPAT_CLIENT_TRACY_THREAD_HPP

#include <pthread.h>

namespace tracy
{

/* Nothing is joined if the thread could not be started. */
class Thread
{
      public:
        Thread(void (*function)(void *), void *data) : function_(function), data_(data)
        {
                is_started_ = pthread_create(&thread_, nullptr, run, this) == 0;
        }
        ~Thread()
        {
                if (is_started_)
                        pthread_join(thread_, nullptr);
        }
        Thread(const Thread &) = delete;
        Thread &operator=(const Thread &) = delete;

        pthread_t Handle() const
        {
                return thread_;
        }

      private:
        static void *run(void *self)
        {
                const Thread *thread = static_cast<Thread *>(self);

                thread->function_(thread->data_);
                return nullptr;
        }

        void (*function_)(void *);
        void *data_;
        pthread_t thread_ = pthread_t();
        bool is_started_ = false;
};

} // namespace tracy

#endif // HYPROF_COMPAT_CLIENT_TRACY_THREAD_HPP
