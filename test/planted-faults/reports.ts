import type { PlantedFault } from './fault.js';

const EVENTS = 'src/adapters/events/event-recorder.ts';
const PORT_EVENTS = 'src/application/use-cases/port-events.ts';
const VERDICT = 'src/domain/verdict/judge-port.ts';

/** Reports of the program: events, verdicts, metrics, logs; and what it leaves behind. */
export const REPORT_FAULTS: readonly PlantedFault[] = [
  {
    name: 'no-event-is-ever-recorded',
    file: EVENTS,
    original: '    this.work ??= this.postAll();\n',
    fault: '',
  },
  {
    name: 'repeated-events-are-not-counted',
    file: EVENTS,
    original: '      known.count++;\n',
    fault: '',
  },
  {
    name: 'events-that-the-api-server-rejects-are-not-tried-again',
    file: EVENTS,
    original: 'error.code === 401 || error.code === 429 || error.code >= 500;',
    fault: 'error.code === 401;',
  },
  {
    name: 'events-go-to-the-default-namespace',
    file: EVENTS,
    original: "return regarding.namespace || 'default';",
    fault: "return 'default';",
  },
  {
    name: 'rejected-services-have-no-event',
    file: PORT_EVENTS,
    original: '    if (attempts === 0) return;\n',
    fault: '    if (attempts !== 0) return;\n',
  },
  {
    name: 'conflicting-frontends-have-no-event',
    file: PORT_EVENTS,
    original:
      "      if (verdict.cause === 'FrontendConflict') events.record(ofAllNodes(eventOf(verdict, port)));\n      else if",
    fault: "      if (verdict.cause === 'FrontendConflict') continue;\n      else if",
  },
  {
    name: 'ignored-parts-of-objects-have-no-event',
    file: PORT_EVENTS,
    original: '    record(true);\n    record(false);\n',
    fault: '    record(true);\n',
  },
  {
    name: 'lasting-problems-have-no-event',
    file: PORT_EVENTS,
    original: 'if (at > this.clock.steady()) continue;',
    fault: 'if (at <= this.clock.steady()) continue;',
  },
  {
    name: 'dropped-packets-are-not-reported',
    file: VERDICT,
    original: 'if (!endpoints.hasAny || dropping.length === 0) return undefined;',
    fault: 'return undefined;',
  },
  {
    name: 'the-mildest-verdict-comes-first',
    file: 'src/domain/verdict/verdict.ts',
    original: 'VERDICT_STATES.indexOf(other.state) - VERDICT_STATES.indexOf(one.state)',
    fault: 'VERDICT_STATES.indexOf(one.state) - VERDICT_STATES.indexOf(other.state)',
  },
  {
    name: 'conflicts-are-no-part-of-the-verdict',
    file: VERDICT,
    original:
      '    ...(conflicts.length > 0 ? [conflict(service, conflicts, hasNoFrontend(entry, status))] : []),\n',
    fault: '',
  },
  {
    name: 'a-port-of-another-protocol-is-the-same-port',
    file: VERDICT,
    original: 'one.port === port && one.protocol === protocol;',
    fault: 'one.port === port;',
  },
  {
    name: 'one-terminating-endpoint-counts-as-all',
    file: VERDICT,
    original: 'return terminating === count',
    fault: 'return terminating > 0',
  },
  {
    name: 'services-that-failed-are-fine',
    file: VERDICT,
    original: "if (state === 'failed') return [sentences.programmingFailed(reason, limitedBy)];",
    fault: "if (state === 'failed') return [];",
  },
  {
    name: 'invalid-objects-are-not-reported',
    file: 'src/application/use-cases/object-reports.ts',
    original: '    this.problems.set(id, { object: id, text, usable });\n',
    fault: '',
  },
  {
    name: 'corrected-objects-stay-reported',
    file: 'src/application/use-cases/object-reports.ts',
    original: '      this.remove(id);\n      return false;\n',
    fault: '      return false;\n',
  },
  {
    name: 'messages-about-one-object-have-no-limit',
    file: 'src/application/message-rate.ts',
    original: 'if (!this.objects.hasRoom(object, now)) {',
    fault: 'if (this.objects.hasRoom(object, now) === undefined) {',
  },
  {
    name: 'metrics-call-what-is-programmed-failed',
    file: 'src/adapters/metrics/scrapes.ts',
    original: "state: 'failed' }, refused);",
    fault: "state: 'failed' }, programmed);",
  },
  {
    name: 'servers-outlive-the-end',
    file: 'src/adapters/http/http-listener.ts',
    original: '    if (server) await closeServer(server);\n',
    fault: '',
  },
  {
    name: 'clean-up-hides-its-failures',
    file: 'src/application/use-cases/cleanup.ts',
    original: '        failures++;\n',
    fault: '',
  },
];
