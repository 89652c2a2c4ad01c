import fc from 'fast-check';
import {
  responsivenessAfter,
  type Responsiveness,
  type ConnectionActivity,
} from '../../../src/domain/conntrack/flow.js';

const looks = {
  nothing: { sent: false, answered: false, unacknowledged: false },
  waiting: { sent: false, answered: false, unacknowledged: true },
  sent: { sent: true, answered: false, unacknowledged: true },
  acknowledged: { sent: true, answered: false, unacknowledged: false },
  answered: { sent: false, answered: true, unacknowledged: false },
  both: { sent: true, answered: true, unacknowledged: true },
} satisfies Record<string, ConnectionActivity>;
type Seen = keyof typeof looks;

function after(...seen: Seen[]): Responsiveness {
  return seen.reduce<Responsiveness>(
    (responsiveness, name) => responsivenessAfter(responsiveness, looks[name]),
    'answered',
  );
}

it.each<[string, Responsiveness, Seen[]]>([
  [
    'a client that repeats its data, and nothing comes back',
    'unresponsive',
    ['both', 'sent', 'sent', 'waiting'],
  ],
  [
    'one whose data were sent when the endpoint had been quiet for long',
    'unresponsive',
    ['nothing', 'nothing', 'sent', 'waiting'],
  ],
  [
    'one that repeats its data seldom by now',
    'unresponsive',
    ['waiting', 'waiting', 'waiting', 'sent', 'sent'],
  ],
  ['an answer that is late', 'answered', ['nothing', 'sent', 'both']],
  ['data that might be on its way', 'waiting', ['nothing', 'sent']],
  ['the acknowledgement of what the endpoint sent last, which needs no answer', 'idle', ['answered', 'sent']],
  [
    'keepalives, and window updates of one that reads slowly',
    'idle',
    ['nothing', 'acknowledged', 'acknowledged', 'acknowledged'],
  ],
  [
    'probes of a client whose endpoint does not read, each answered',
    'answered',
    ['both', 'waiting', 'both', 'waiting', 'both'],
  ],
  ['a transfer that the client has paused', 'answered', ['both', 'nothing', 'acknowledged', 'both']],
])('%s: %s', (_, responsiveness, seen) => {
  expect(after(...seen)).toBe(responsiveness);
});

it('is silent only after two looks without an answer, and data that went unacknowledged in the second', () => {
  const names = Object.keys(looks) as Seen[];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...names), { maxLength: 12 }), (seen) => {
      let responsiveness: Responsiveness = 'answered';
      for (const [index, name] of seen.entries()) {
        responsiveness = responsivenessAfter(responsiveness, looks[name]);
        if (responsiveness !== 'unresponsive') continue;
        const since = seen.slice(0, index + 1).map((one): ConnectionActivity => looks[one]);
        const quiet = since.slice(since.findLastIndex(({ answered }) => answered) + 1);
        expect(quiet.length).toBeGreaterThanOrEqual(3);
        expect(quiet.slice(1, -1).some(({ sent, unacknowledged }) => sent && unacknowledged)).toBe(true);
        return;
      }
    }),
  );
});
