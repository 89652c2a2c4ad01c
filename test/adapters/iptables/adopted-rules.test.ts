import { iptablesBackend } from '../../support/backends.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { everyKind } from '../../../src/testing/contract/sample-sets.js';
import { changed, gone } from '../../../src/testing/contract/stage.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  recordedEntries,
  recordedDump,
  RECORDED_HOST,
  recordedCases,
} from '../../support/recorded/cluster.js';
import { HOST } from '../../support/iptables/services.js';

let iptables: MemoryIptables;
beforeEach(() => void (iptables = new MemoryIptables()));

function open(family: IpFamily = 'IPv4', host = HOST): Backend {
  return iptablesBackend(family, iptables, iptables.watch(), () => Promise.resolve(host), new MemoryLogger());
}

const UNTOUCHED = { written: 0, failed: [] };
const KEEP = { keepUnexplained: true };
const cases = recordedCases();

it.each(cases)(
  'the rules of kube-proxy stay until they are explained: $scenario $step $family',
  async (recorded) => {
    const { family } = recorded;
    const { entries, network } = recordedEntries(recorded, family);
    iptables.tamper(family, recordedDump(recorded, family));
    expect(await open(family, RECORDED_HOST).start([], network, KEEP)).toMatchObject(UNTOUCHED);
    const [known, others] = [0, 1].map((rest) => entries.filter((_, index) => index % 2 === rest)) as [
      ForwardingEntry[],
      ForwardingEntry[],
    ];
    const backend = open(family, RECORDED_HOST);
    expect(await backend.start(known, network, KEEP)).toMatchObject(UNTOUCHED);
    expect(await backend.apply(changed(...others), network)).toMatchObject(UNTOUCHED);
    expect(await backend.verify('full')).toMatchObject(UNTOUCHED);
  },
);

describe('rules that nothing explains', () => {
  const node = sampleNode('IPv4');
  const all = everyKind('IPv4');
  const [plain, ...others] = all;
  const rules = (of: string) => iptables.chain('IPv4', 'nat', of)!;
  const ofPlain = () => rules('KUBE-SERVICES').filter((rule) => rule.includes('contract/plain:main'));
  beforeEach(() => open().start(all, node));

  it('are restored when another program removes them', async () => {
    const backend = open();
    await backend.start(others, node, KEEP);
    const [before] = ofPlain();
    iptables.tamper('IPv4', `*nat\n-D KUBE-SERVICES ${before}\nCOMMIT\n`);
    expect(await backend.verify('full')).toMatchObject({ written: 1 });
    expect(ofPlain()).toEqual([before]);
  });

  it('go when their service port does', async () => {
    const backend = open();
    await backend.start(others, node, KEEP);
    const chains = iptables.userChains('IPv4').length;
    await backend.apply(changed(plain!), node);
    await backend.apply(gone(plain!), node);
    expect(ofPlain()).toEqual([]);
    // Those of the service and of its three endpoints.
    expect(iptables.userChains('IPv4')).toHaveLength(chains - 4);
  });

  it('do not lead packets away from a service port that has their address now', async () => {
    const heir = sampleEntry('IPv4', 'heir', { number: 1 });
    const result = await open().start([...others, heir], node, KEEP);
    expect(result).toMatchObject({ failed: [] });
    expect(ofPlain()).toEqual([]);
    expect(rules('KUBE-SERVICES').join()).toContain('contract/heir:main');
  });

  it('yield a frontend to the service port that claims it, for good, and nobody calls that a conflict', async () => {
    const backend = open();
    await backend.start(others, node, KEEP);
    const heir = sampleEntry('IPv4', 'heir', { number: 1 });
    expect(await backend.apply(changed(heir), node)).toMatchObject({ failed: [] });
    expect(ofPlain()).toEqual([]);
    expect(await backend.verify('full')).toMatchObject(UNTOUCHED);
    await backend.apply(gone(heir), node);
    expect(ofPlain()).toEqual([]);
    expect(await backend.verify('full')).toMatchObject(UNTOUCHED);
  });

  it('are taken over without a step by the service port that explains them', async () => {
    const backend = open();
    await backend.start(others, node, KEEP);
    expect(await backend.apply(changed(plain!), node)).toMatchObject(UNTOUCHED);
    const bigger = sampleEntry('IPv4', 'plain', { number: 1, endpoints: 4 });
    expect(await open().start(others, node, KEEP)).toMatchObject(UNTOUCHED);
    const again = open();
    await again.start(others, node, KEEP);
    // The choice with five rules, and a chain of two rules for the new endpoint.
    expect(await again.apply(changed(bigger), node)).toMatchObject({ written: 1 + 5 + 3, failed: [] });
    expect(await again.verify('full')).toMatchObject(UNTOUCHED);
  });

  it('stay when what should replace them is refused', async () => {
    const backend = open();
    await backend.start(others, node, KEEP);
    const before = iptables.chain('IPv4', 'nat', 'KUBE-SERVICES');
    const bigger = sampleEntry('IPv4', 'plain', { number: 1, endpoints: 4 });
    iptables.refuse((line) => (/plain:main -> /.test(line) ? 'refused' : undefined));
    expect((await backend.apply(changed(bigger), node)).failed).toHaveLength(1);
    iptables.refuse(() => undefined);
    expect(iptables.chain('IPv4', 'nat', 'KUBE-SERVICES')).toEqual(before);
    expect(await backend.verify('full')).toMatchObject(UNTOUCHED);
  });

  it('are no UDP frontends that were lost', async () => {
    expect(await open().start([plain!], node, KEEP)).toMatchObject({ lost: [] });
    expect((await open().start([plain!], node)).lost).not.toEqual([]);
  });
});
