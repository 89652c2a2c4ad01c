import { cpuCount } from '../../adapters/process/host-facts.js';
import { setUpConntrackTable } from '../../adapters/sysctl.js';
import type { EventRecorder } from '../../application/ports/event-recorder.js';
import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { nodeEvent } from './node-event.js';

/**
 * Sets what the configuration asks of the machine, apart from rules: the sysctls of connection tracking
 * (docs/spec/server.md §4). Those of a mode: `OpenMode.setUp`. Needs no API server; idempotent.
 * @throws ConntrackSettingsError
 */
export function setUpHost(
  { nodeName, configuration }: CommandLine,
  events: EventRecorder,
  logger: Logger,
): void {
  setUpConntrackTable(configuration.conntrack, cpuCount(), logger, (note) => {
    logger.warn({ note }, '/sys is read-only; keeping the size of the conntrack hash table');
    events.record(nodeEvent(nodeName, 'Warning', 'readOnlySysFS', note));
  });
}
