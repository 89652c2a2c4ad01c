/**
 * The ports of the proxy in memory, for tests without a kernel, a cluster or a clock, and for programs that only
 * compute the effects of a proxy.
 *
 * @packageDocumentation
 */
export { FakeClock } from './testing/fakes/fake-clock.js';
export { MemoryConntrack, type MemoryFlow } from './testing/fakes/memory-conntrack.js';
export { MemoryLogger, type LogLevel, type LogLine } from './testing/fakes/memory-logger.js';
export { RecordingBackend, type BackendCall } from './testing/fakes/recording-backend.js';
export { RecordingEvents } from './testing/fakes/recording-events.js';
export { RecordingSink } from './testing/fakes/recording-sink.js';
export { ScriptedSource } from './testing/fakes/scripted-source.js';
