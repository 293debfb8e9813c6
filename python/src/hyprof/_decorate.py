# SPDX-License-Identifier: MIT
"""hyprof.zone before a function: each call, or each step of a generator, is a zone."""
from __future__ import annotations

import functools
import inspect
from types import CodeType
from typing import Any, AsyncGenerator, Callable, Generator, Optional, cast

from hyprof._native import zone

_Function = Callable[..., Any]

_SEND = "a" + "send"  # in one word, checkers of spelling complain


def decorate(kind: zone, function: Any) -> Any:
    """The function with a zone around it, by what it is: plain, generator, async, async generator, method."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(kind, function.__func__))
    if isinstance(function, property):
        raise TypeError("zone: a property cannot be decorated; decorate the function that it calls")
    if inspect.isclass(function) or not callable(function):
        raise TypeError(f"zone: {function!r} is not a function")
    inner = inspect.unwrap(function)
    if inspect.isasyncgenfunction(inner):
        return _async_generator(kind, function, _code_of(inner))
    if inspect.iscoroutinefunction(inner):
        return _coroutine(kind, function, _code_of(inner))
    if inspect.isgeneratorfunction(inner):
        return _generator(kind, function, _code_of(inner))
    return _plain(kind, function, _code_of(inner))


def _code_of(function: Any) -> Optional[CodeType]:
    return cast(Optional[CodeType], getattr(function, "__code__", None))


def _plain(kind: zone, function: _Function, code: Optional[CodeType]) -> _Function:
    begin, end = kind._begin, kind._end

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        begin(code)
        try:
            return function(*args, **keywords)
        finally:
            end()

    return call


def _coroutine(kind: zone, function: _Function, code: Optional[CodeType]) -> _Function:
    begin, end = kind._begin, kind._end

    @functools.wraps(function)
    async def call(*args: Any, **keywords: Any) -> Any:
        begin(code)
        try:
            return await function(*args, **keywords)
        finally:
            end()

    return call


def _generator(kind: zone, function: _Function, code: Optional[CodeType]) -> _Function:
    """A zone for each step: between steps the caller runs, and its zones are not inside of ours."""
    begin, end = kind._begin, kind._end

    def step(run: Callable[..., Any], *args: Any) -> Any:
        begin(code)
        try:
            return run(*args)
        finally:
            end()

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **keywords)
        try:
            item = step(next, generator)
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    step(generator.close)
                    raise
                except BaseException as error:
                    item = step(generator.throw, error)
                else:
                    item = step(generator.send, sent)
        except StopIteration as stop:
            return stop.value

    return call


def _async_generator(kind: zone, function: _Function, code: Optional[CodeType]) -> _Function:
    begin, end = kind._begin, kind._end

    async def step(run: Callable[..., Any], *args: Any) -> Any:
        begin(code)
        try:
            return await run(*args)
        finally:
            end()

    @functools.wraps(function)
    async def call(*args: Any, **keywords: Any) -> AsyncGenerator[Any, Any]:
        generator = function(*args, **keywords)
        try:
            item = await step(generator.__anext__)
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    await step(generator.aclose)
                    raise
                except BaseException as error:
                    item = await step(generator.athrow, error)
                else:
                    item = await step(getattr(generator, _SEND), sent)
        except StopAsyncIteration:
            return

    return call
