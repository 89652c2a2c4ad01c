/**
 * The ports of the proxy in memory, for tests without a kernel, a cluster or a clock, and for programs that only want
 * to know what a proxy would do.
 *
 * @packageDocumentation
 */
export { FakeClock } from './adapters/fakes/fake-clock.js';
export { MemoryConntrack } from './adapters/fakes/memory-conntrack.js';
export { MemoryLogger, type LogLevel, type LogLine } from './adapters/fakes/memory-logger.js';
export { RecordingBackend, type BackendCall } from './adapters/fakes/recording-backend.js';
export { RecordingEvents } from './adapters/fakes/recording-events.js';
export { RecordingSink } from './adapters/fakes/recording-sink.js';
export { ScriptedSource } from './adapters/fakes/scripted-source.js';
