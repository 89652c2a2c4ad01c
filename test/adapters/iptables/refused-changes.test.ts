import { iptablesBackend } from '../../support/backends.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { changed, gone } from '../../../src/testing/contract/stage.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { HOST } from '../../support/iptables/services.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';

describe.each(IP_FAMILIES)('a refused change (%s)', (family) => {
  const node = sampleNode(family);
  const healthChecked = (entry: ForwardingEntry): ForwardingEntry => ({
    ...entry,
    healthCheckNodePort: 32_000,
  });
  const tcp = sampleEntry(family, 'same', { number: 1 });
  const udp = sampleEntry(family, 'same', { number: 1, protocol: 'UDP' });

  let iptables: MemoryIptables;
  let backend: Backend;
  const open = (): Backend =>
    iptablesBackend(family, iptables, iptables.watch(), () => Promise.resolve(HOST), new MemoryLogger());
  const refuse = (pattern: RegExp): void =>
    iptables.refuse((line) => (/^-[AI]/.test(line) && pattern.test(line) ? 'refused' : undefined));
  const leadingTo = (entry: ForwardingEntry): readonly string[] =>
    iptables
      .chain(family, 'nat', 'KUBE-SERVICES')!
      .filter((rule) => rule.includes(`"contract/${entry.name.name}:main cluster IP"`))
      .filter((rule) => rule.includes(`-p ${entry.name.protocol.toLowerCase()} `));

  beforeEach(() => {
    iptables = new MemoryIptables();
    backend = open();
  });

  it('goes back to what the kernel holds after a write of which a part was done', async () => {
    await backend.start([healthChecked(tcp), healthChecked(udp)], node);
    const bigger = sampleEntry(family, 'same', { number: 1, endpoints: 4 });
    // Table filter loses their entries before table nat is refused.
    const other = healthChecked(sampleEntry(family, 'other', { number: 2 }));
    const before = leadingTo(tcp);
    refuse(/contract\/same:/);
    const { failed } = await backend.apply([...gone(udp), ...changed(bigger, other)], node);
    expect(failed.map(({ key }) => key)).toEqual([bigger.key]);
    expect([leadingTo(tcp), leadingTo(udp)]).toEqual([before, []]);
    expect(leadingTo(other)).toHaveLength(1);
    iptables.refuse(() => undefined);
    expect((await backend.apply(changed(bigger), node)).failed).toEqual([]);
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
  });

  it.each([true, false])(
    'leaves nothing in the tables that took their part of a service port (the tool names lines: %s)',
    async (namesLines) => {
      iptables.namesLines = namesLines;
      await backend.start([tcp], node);
      const bad = sampleEntry(family, 'bad', { number: 2, external: true, sourceRanges: true });
      const good = sampleEntry(family, 'good', { number: 3, external: true, sourceRanges: true });
      const firewall = () => iptables.chain(family, 'filter', 'KUBE-PROXY-FIREWALL')!;
      const hasRules = (name: string) => firewall().some((rule) => rule.includes(`"contract/${name}:main `));
      // Table filter comes first, and takes its part.
      refuse(/contract\/bad.* -j KUBE-(SVC|FW|EXT)-/);
      const { failed } = await backend.apply(changed(bad, good), node);
      expect(failed.map(({ key }) => key)).toEqual([bad.key]);
      expect([hasRules('bad'), hasRules('good')]).toEqual([false, true]);
      expect(await backend.differences!()).toEqual([]);
      iptables.refuse(() => undefined);
      expect((await backend.apply(changed(bad), node)).failed).toEqual([]);
      expect(hasRules('bad')).toBe(true);
    },
  );

  it('leaves the rule for health checks to the service port that had it', async () => {
    const empty = (name: string, protocol?: 'UDP') =>
      sampleEntry(family, name, { number: 1, endpoints: 0, ...(protocol && { protocol }) });
    const other = sampleEntry(family, 'same2', { number: 2 });
    await backend.start([healthChecked(udp), healthChecked(other)], node);
    refuse(/contract\/same/);
    const wanted = [empty('same', 'UDP'), empty('same2'), empty('same')];
    const { failed } = await backend.apply(changed(...wanted), node);
    expect(failed.map(({ key }) => key).sort()).toEqual(wanted.map(({ key }) => key).sort());
    iptables.refuse(() => undefined);
    expect((await backend.apply(changed(...wanted), node)).failed).toEqual([]);
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
  });

  it('at a start leaves the rules of the same name and another protocol alone', async () => {
    await backend.start([tcp, udp], node);
    const before = leadingTo(tcp);
    const bigger = sampleEntry(family, 'same', { number: 1, endpoints: 4 });
    refuse(/contract\/same/);
    const { failed } = await open().start([bigger], node);
    expect(failed.map(({ key }) => key)).toEqual([tcp.key]);
    expect([leadingTo(tcp), leadingTo(udp)]).toEqual([before, []]);
  });

  it.each(['alike', 'same2'])(
    'at a start leaves what leads to it, also where %s claims its frontend',
    async (name) => {
      await backend.start([tcp], node);
      const before = leadingTo(tcp);
      const bigger = sampleEntry(family, 'same', { number: 1, endpoints: 4 });
      const rival = sampleEntry(family, name, { number: 1 });
      refuse(/contract\/(same|alike)/);
      const { failed } = await open().start([bigger, rival], node);
      expect(failed.map(({ key }) => key).sort()).toEqual([bigger.key, rival.key].sort());
      expect([leadingTo(tcp), leadingTo(rival)]).toEqual([before, []]);
    },
  );
});
