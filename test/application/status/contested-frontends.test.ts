import { ServicePortOutcomes } from '../../../src/application/sync/service-port-outcomes.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { ForwardingEntry, Frontend } from '../../../src/domain/forwarding/forwarding-entry.js';
import { SavedRules } from '../../../src/domain/iptables/walk/saved-rules.js';
import { walkTables } from '../../../src/domain/iptables/walk/tables-walk.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import type { ServicePortKey } from '../../../src/domain/model/service-port-name.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import type { BackendSubject } from '../../../src/testing/contract/backend-subject.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { ARRIVING, NODE } from '../../support/iptables/walked.js';
import { endpoint, FORWARDING, service } from '../../support/samples.js';
import { outcomeOf } from '../../support/trace/outcome.js';
import {
  iptablesSubject,
  ipvsSubject,
  nftablesSubject,
  userspaceSubject,
} from '../../testing/contract/subjects.js';

type Outcome = Frontend['outcome'];
const OUTCOMES: readonly Outcome[] = ['forward', 'reject', 'drop'];
const SHARED = '192.0.2.80';
const FRONTEND = `${SHARED}:80/TCP`;
const ENDPOINTS = { a: '10.1.1.1', b: '10.1.1.2', c: '10.1.1.3' } as const;
type Name = keyof typeof ENDPOINTS;

/** Services with one external IP, and with what becomes of packets to it. */
function claimant(name: Name, outcome: Outcome): ForwardingEntry {
  const [entry] = forwardService(
    service({
      name,
      clusterIPs: { IPv4: `10.96.0.${name.charCodeAt(0)}` },
      externalIPs: [parseAddress(SHARED)!],
      externalPolicyLocal: outcome === 'drop',
    }),
    () => (outcome === 'reject' ? [] : [endpoint(ENDPOINTS[name])]),
    FORWARDING,
  );
  expect(entry!.frontends.find(({ address }) => address === SHARED)!.outcome).toBe(outcome);
  return entry!;
}

const keyOf = (name: string): ServicePortKey => `shop/${name}/tcp/`;
const node = sampleNode('IPv4');

/** Programs them, one after another, and tells which lost the shared frontend, and to whom. */
async function lossesIn<Place>(
  subject: BackendSubject<Place>,
  entries: readonly ForwardingEntry[],
): Promise<{ readonly losses: Readonly<Record<string, string>>; readonly place: Place }> {
  const place = await subject.makePlace();
  const backend = await subject.open(place);
  const statuses = new ServiceStatuses();
  const [first, ...later] = entries;
  const table = { entry: () => first };
  const outcomes = new ServicePortOutcomes('IPv4', table, statuses, new FakeClock(1), new MemoryLogger());
  const changed = (entry: ForwardingEntry) => [{ key: entry.key, entry }];
  outcomes.record(changed(first!), await backend.start([first!], node));
  for (const entry of later) outcomes.record(changed(entry), await backend.apply(changed(entry), node));
  await backend.close?.();
  const losses = entries.flatMap(({ key }) => {
    const status = statuses.get('IPv4', key)!;
    if (status.state !== 'degraded') return [];
    expect(status.held).toMatchObject([{ frontend: FRONTEND }]);
    return [[key, status.held![0]!.holder] as const];
  });
  return { losses: Object.fromEntries(losses), place };
}

const PAIRS = OUTCOMES.flatMap((a) => OUTCOMES.map((b) => [a, b] as const));

describe('two Services with one external IP and port, the first of which has', () => {
  describe.each([
    ['nftables', nftablesSubject('IPv4')],
    ['ipvs', ipvsSubject('IPv4')],
    ['userspace', userspaceSubject('IPv4')],
  ] as const)('in mode %s', (_, subject) => {
    it.each(PAIRS)('%s, the other %s: the first by name has it', async (a, b) => {
      const entries = [claimant('a', a), claimant('b', b)];
      for (const order of [entries, entries.toReversed()]) {
        const { losses } = await lossesIn(subject as BackendSubject<unknown>, order);
        expect(losses).toEqual({ [keyOf('b')]: 'shop/a' });
      }
    });
  });

  it.each(PAIRS)('in mode iptables %s, the other %s: the one has it to which packets go', async (a, b) => {
    const entries = [claimant('a', a), claimant('b', b)];
    for (const order of [entries, entries.toReversed()]) {
      const { losses, place } = await lossesIn(iptablesSubject('IPv4'), order);
      place.reopen();
      const rules = new SavedRules(await place.save('IPv4'), (_, chain) => chain.startsWith('KUBE-'));
      const fate = outcomeOf(walkTables(rules, { ...ARRIVING, destination: SHARED }, NODE));
      const isOfOther = typeof fate === 'object' && fate.to[0]!.startsWith(ENDPOINTS.b);
      expect(fate).toEqual(
        a === 'forward' || b === 'forward'
          ? { to: [`${ENDPOINTS[isOfOther ? 'b' : 'a']}:8080`], masquerade: true }
          : a === 'reject'
            ? 'refused'
            : 'dropped',
      );
      expect(losses).toEqual(isOfOther ? { [keyOf('a')]: 'shop/b' } : { [keyOf('b')]: 'shop/a' });
    }
  });

  it('in mode iptables endpoints, and loses them: the other one has it from then on', async () => {
    const gone = [claimant('a', 'forward'), claimant('b', 'forward'), claimant('a', 'reject')];
    expect((await lossesIn(iptablesSubject('IPv4'), gone)).losses).toEqual({ [keyOf('a')]: 'shop/b' });
  });
});

it('of three Services in mode iptables, the next that forwards has it when the first has left', async () => {
  const place = iptablesSubject('IPv4').makePlace() as never;
  const backend = await iptablesSubject('IPv4').open(place);
  const statuses = new ServiceStatuses();
  const outcomes = new ServicePortOutcomes(
    'IPv4',
    { entry: () => undefined },
    statuses,
    new FakeClock(1),
    new MemoryLogger(),
  );
  const entries = [claimant('a', 'forward'), claimant('b', 'reject'), claimant('c', 'forward')];
  const changes = entries.map((entry) => ({ key: entry.key, entry }));
  outcomes.record(changes, await backend.start(entries, node));
  const removal = [{ key: keyOf('a'), entry: undefined }];
  outcomes.record(removal, await backend.apply(removal, node));
  expect(statuses.get('IPv4', keyOf('c'))).toMatchObject({ state: 'programmed' });
  expect(statuses.get('IPv4', keyOf('b'))).toMatchObject({ held: [{ holder: 'shop/c' }] });
});
