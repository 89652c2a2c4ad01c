import { iptablesBackend } from '../support/backends.js';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { XtablesLockedError, type IptablesVariant } from '../../src/adapters/iptables/iptables-commands.js';
import type { Backend } from '../../src/application/ports/backend.js';
import { SILENT_OBSERVER } from '../../src/adapters/iptables/iptables-driver.js';
import { IptablesTool, XtablesLock } from '../../src/adapters/iptables/iptables-tool.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { sampleOf } from '../support/nightly.js';
import { DriverBundle, Namespace, type Driver } from '../support/program/in-namespace.js';
import type { Handlers } from './iptables-driver/driver.js';
import {
  endpointChain,
  HOST,
  keyOf,
  nodeNetwork,
  serviceChain,
  Services,
} from '../support/iptables/services.js';

const folder = mkdtempSync(join(tmpdir(), `t${process.pid}-ipd-`));
const lockFile = join(folder, 'xtables.lock');
afterAll(() => rmSync(folder, { recursive: true }));
let made = 0;

/** A namespace with iptables of one variant, and a driver for one family in it. */
class Bench {
  readonly name = `t${process.pid}-ipd${++made}`;
  readonly tool: IptablesTool;
  readonly logger = new MemoryLogger();
  readonly services: Services;
  readonly waits: number[] = [];
  readonly node;

  constructor(
    readonly variant: IptablesVariant,
    readonly family: IpFamily = 'IPv4',
  ) {
    execFileSync('ip', ['netns', 'add', this.name]);
    this.tool = new IptablesTool({
      variant,
      launcher: ['ip', 'netns', 'exec', this.name],
      lock: new XtablesLock(lockFile),
    });
    this.services = new Services(family);
    this.node = nodeNetwork(family);
  }

  backend(): Backend {
    const { waits } = this;
    return iptablesBackend(this.family, this.tool, undefined, () => Promise.resolve(HOST), this.logger, {
      compile: this.services.compile,
      observer: {
        ...SILENT_OBSERVER,
        restored: (_, { lockWaitSeconds }) => void waits.push(lockWaitSeconds ?? NaN),
      },
    });
  }

  async started(count = 5): Promise<Backend> {
    for (let number = 1; number <= count; number++) this.services.set(number);
    const backend = this.backend();
    const result = await backend.start(this.services.all, this.node);
    expect(result.failed).toEqual([]);
    return backend;
  }

  run(program: string, ...parameters: string[]): string {
    return execFileSync('ip', ['netns', 'exec', this.name, program, ...parameters], {
      encoding: 'utf8',
      env: { ...process.env, XTABLES_LOCKFILE: lockFile },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  iptables(...parameters: string[]): string {
    const name = this.family === 'IPv4' ? 'iptables' : 'ip6tables';
    return this.run(`${name}-${this.variant}`, ...parameters);
  }

  /** All tables, without what differs from one listing to the next. */
  dump(): string {
    const name = this.family === 'IPv4' ? 'iptables' : 'ip6tables';
    return this.run(`${name}-${this.variant}-save`)
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .map((line) => line.replace(/\[\d+:\d+\]/, ''))
      .join('\n');
  }

  remove(): void {
    this.tool.close();
    execFileSync('ip', ['netns', 'del', this.name]);
  }
}

describe.each(sampleOf(['nft', 'legacy'] as const))('the iptables driver with iptables-%s', (variant) => {
  let bench: Bench;
  beforeEach(() => void (bench = new Bench(variant)));
  afterEach(() => bench.remove());

  it('writes fresh rules, and adopts them without writing', async () => {
    await bench.started();
    const dump = bench.dump();
    expect(dump).toContain(
      `-A ${serviceChain(3)} -m comment --comment "test/s3 -> 10.244.1.3:8080" -j ${endpointChain(3, 1)}`,
    );
    expect(dump).toMatch(/-A PREROUTING .*-j KUBE-SERVICES/);
    expect(dump.match(/^:KUBE-PROXY-CANARY/gm)).toHaveLength(3);
    const again = await bench.backend().start(bench.services.all, bench.node);
    expect(again).toEqual({ written: 0, failed: [], lost: [] });
    expect(bench.dump()).toBe(dump);
  });

  it('writes only the chains of what changes', async () => {
    const backend = await bench.started();
    bench.iptables('-t', 'nat', '-A', serviceChain(1), '-j', 'RETURN');
    const { written } = await backend.apply([bench.services.set(2, 3)], bench.node);
    const dump = bench.dump();
    expect(dump).toContain(`-j ${endpointChain(2, 2)}`);
    expect(dump).toContain(`-A ${serviceChain(1)} -j RETURN`);
    // Two chains: the service's, with three rules, and the new endpoint's, with two.
    expect(written).toBe(7);
    expect(await backend.apply([bench.services.set(2, 3)], bench.node)).toMatchObject({ written: 0 });
    const incremental = async () => {
      bench.iptables('-t', 'nat', '-D', serviceChain(1), '-j', 'RETURN');
      return bench.backend().start(bench.services.all, bench.node);
    };
    expect(await incremental()).toMatchObject({ written: 0 });
  });

  it('removes services and their chains, and moves between tables', async () => {
    const backend = await bench.started();
    await backend.apply([bench.services.remove(4), bench.services.setEmpty(5)], bench.node);
    let dump = bench.dump();
    expect(dump).not.toContain('test/s4');
    expect(dump).not.toContain(serviceChain(4));
    expect(dump).not.toContain(endpointChain(5, 0));
    expect(dump).toMatch(/test\/s5 has no endpoints.* -j REJECT/);
    expect(await backend.verify('full')).toMatchObject({ compared: true, written: 0 });
    await backend.apply([bench.services.set(5)], bench.node);
    dump = bench.dump();
    expect(dump).not.toContain('has no endpoints');
    expect(dump).toContain(endpointChain(5, 1));
    expect(
      dump
        .trimEnd()
        .split('\n')
        .filter((line) => line.startsWith('-A KUBE-SERVICES'))
        .at(-1),
    ).toContain('-j KUBE-NODEPORTS');
  });

  it('removes stale chains at start and leaves strangers alone', async () => {
    bench.iptables('-t', 'nat', '-N', 'CNI-X');
    bench.iptables('-t', 'nat', '-A', 'CNI-X', '-s', '10.1.0.0/16', '-j', 'MASQUERADE');
    bench.iptables('-t', 'nat', '-A', 'POSTROUTING', '-j', 'CNI-X');
    bench.iptables('-A', 'INPUT', '-p', 'tcp', '--dport', '22', '-j', 'ACCEPT');
    for (const chain of ['KUBE-SVC-STALE', 'KUBE-SEP-STALE']) bench.iptables('-t', 'nat', '-N', chain);
    bench.iptables('-t', 'nat', '-A', 'KUBE-SVC-STALE', '-j', 'KUBE-SEP-STALE');
    await bench.started();
    const dump = bench.dump();
    expect(dump).not.toContain('STALE');
    expect(dump).toContain('-A CNI-X -s 10.1.0.0/16 -j MASQUERADE');
    expect(dump).toContain('-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT');
  });

  it('keeps a stale chain that a stranger holds on to, and does everything else', async () => {
    bench.iptables('-t', 'nat', '-N', 'KUBE-SVC-STALE');
    bench.iptables('-t', 'nat', '-A', 'OUTPUT', '-j', 'KUBE-SVC-STALE');
    await bench.started();
    expect(bench.dump()).toContain(serviceChain(5));
    expect(bench.logger.at('warn').map(({ message }) => message)).toEqual([
      'cannot remove unused chains; will retry',
    ]);
  });

  it('keeps nothing but the chain that a stranger holds on to, and tells which rule that is until it is gone', async () => {
    const backend = await bench.started();
    const rule = `OUTPUT -p tcp -j ${serviceChain(4)}`;
    bench.iptables('-t', 'nat', '-A', ...rule.split(' '));
    await backend.apply([bench.services.remove(4), bench.services.remove(3)], bench.node);
    const dump = bench.dump();
    expect(dump).toContain(`:${serviceChain(4)} -`);
    for (const gone of [`-A ${serviceChain(4)}`, endpointChain(4, 0), serviceChain(3)])
      expect(dump).not.toContain(gone);
    expect(backend.failedDeletes).toEqual([expect.stringContaining(`\`-A ${rule}'`)]);
    expect(await backend.differences!()).toEqual([{ sign: '-', text: `-t nat -N ${serviceChain(4)}` }]);
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
    expect(bench.logger.at('warn').filter(({ message }) => message.startsWith('cannot remove'))).toHaveLength(
      1,
    );
    bench.iptables('-t', 'nat', '-D', ...rule.split(' '));
    await backend.verify('quick');
    expect([backend.failedDeletes, await backend.differences!()]).toEqual([[], []]);
    expect(bench.dump()).not.toContain(serviceChain(4));
  });

  it.each([
    ['at a line', '-m comment --comment "bad" -d 10.0.0.999/32 -j RETURN'],
    ['by the kernel', '-p udp -m tcp --dport 80 -j RETURN'],
  ])('sets a service aside that is refused %s', async (_, poison) => {
    const backend = await bench.started(20);
    const before = bench.dump();
    const { failed } = await backend.apply(
      [bench.services.set(30), bench.services.set(7, 1, poison), bench.services.set(8, 3)],
      bench.node,
    );
    expect(failed.map(({ key }) => key)).toEqual([keyOf(7)]);
    const dump = bench.dump();
    const own = (text: string) => text.split('\n').filter((line) => line.includes('test/s7 '));
    expect(own(dump)).toEqual(own(before));
    expect(dump).toContain(endpointChain(8, 2));
    expect(dump).toContain(serviceChain(30));
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
    expect(await backend.apply([bench.services.set(7, 1)], bench.node)).toMatchObject({ failed: [] });
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
  });

  it('sets poisoned services aside at the first start', async () => {
    for (let number = 1; number <= 12; number++) bench.services.set(number);
    bench.services.set(3, 2, '-p udp -m tcp --dport 80 -j RETURN');
    bench.services.set(9, 2, '-m nosuchmatch -j RETURN');
    const { failed } = await bench.backend().start(bench.services.all, bench.node);
    expect(failed.map(({ key }) => key).sort()).toEqual([keyOf(3), keyOf(9)]);
    expect(failed.find(({ key }) => key === keyOf(9))!.reason).toContain("kernel module for `nosuchmatch'");
    expect(bench.dump()).toContain(serviceChain(12));
  });

  it.each([
    ['a jump deleted', (it: Bench) => it.iptables('-t', 'nat', '-D', 'OUTPUT', '1'), 1],
    ['a canary deleted', (it: Bench) => it.iptables('-t', 'mangle', '-X', 'KUBE-PROXY-CANARY'), 1],
    ['an entry deleted', (it: Bench) => it.iptables('-t', 'nat', '-D', 'KUBE-SERVICES', '2'), 1],
    [
      'a stranger in a chain',
      (it: Bench) => it.iptables('-t', 'nat', '-I', 'KUBE-SERVICES', '2', '-j', 'RETURN'),
      1,
    ],
    [
      'a chain deleted',
      (it: Bench) => {
        it.iptables('-t', 'nat', '-D', serviceChain(2), '1');
        it.iptables('-t', 'nat', '-F', endpointChain(2, 0));
        it.iptables('-t', 'nat', '-X', endpointChain(2, 0));
      },
      6,
    ],
  ])('puts right %s, and no more', async (_, damage, steps) => {
    const backend = await bench.started();
    const before = bench.dump();
    damage(bench);
    expect(bench.dump()).not.toBe(before);
    expect(await backend.verify('full')).toMatchObject({ compared: true, written: steps });
    expect(bench.dump().split('\n').sort()).toEqual(before.split('\n').sort());
  });

  it('notices a flush of nat in a quick verification, without any watch', async () => {
    const backend = await bench.started();
    const before = bench.dump();
    expect(await backend.verify('quick')).toMatchObject({ compared: false, written: 0 });
    bench.iptables('-t', 'nat', '-F');
    const { compared, written } = await backend.verify('quick');
    expect(compared).toBe(true);
    expect(written).toBeGreaterThan(10);
    expect(bench.dump()).toBe(before);
    bench.iptables('-t', 'nat', '-F');
    bench.iptables('-t', 'nat', '-X');
    await backend.verify('quick');
    expect(bench.dump().split('\n').sort()).toEqual(before.split('\n').sort());
  });

  it('cleans up all of its own and nothing else', async () => {
    bench.iptables('-N', 'KUBE-FIREWALL');
    bench.iptables('-A', 'KUBE-FIREWALL', '-s', '1.2.3.4', '-j', 'DROP');
    bench.iptables('-t', 'mangle', '-N', 'KUBE-KUBELET-CANARY');
    bench.iptables('-t', 'nat', '-A', 'POSTROUTING', '-s', '10.1.0.0/16', '-j', 'MASQUERADE');
    const backend = await bench.started();
    await backend.cleanup();
    const dump = bench.dump();
    const ours = dump.split('\n').filter((line) => line.includes('KUBE-'));
    expect(ours.sort()).toEqual([
      '-A INPUT -j KUBE-FIREWALL',
      '-A KUBE-FIREWALL -s 1.2.3.4/32 -j DROP',
      '-A OUTPUT -j KUBE-FIREWALL',
      ':KUBE-FIREWALL - ',
      ':KUBE-KUBELET-CANARY - ',
    ]);
    expect(dump).toContain('-A POSTROUTING -s 10.1.0.0/16 -j MASQUERADE');
    await bench.backend().cleanup();
    expect(bench.dump()).toBe(dump);
  });

  it('finds the variant by the hint', async () => {
    bench.iptables('-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT');
    const tool = new IptablesTool({
      launcher: ['ip', 'netns', 'exec', bench.name],
      lock: new XtablesLock(lockFile),
    });
    expect(await tool.identify()).toMatchObject({
      variant,
      reason: 'chain KUBE-IPTABLES-HINT exists',
      randomFully: true,
    });
    expect(await tool.problem('IPv4')).toBeUndefined();
    tool.close();
  });

  it('asks for the matches of its rules without leaving a trace', async () => {
    await bench.started(1);
    const before = bench.dump();
    expect(await bench.tool.lackingMatches('IPv4')).toEqual([]);
    expect(bench.dump()).toBe(before);
  });

  it('works for IPv6', async () => {
    const six = new Bench(variant, 'IPv6');
    try {
      const backend = await six.started();
      await backend.apply([six.services.set(2, 4), six.services.remove(1)], six.node);
      expect(six.dump()).toContain('--to-destination [fd00:244::4:2]:8080');
      expect(await six.backend().start(six.services.all, six.node)).toMatchObject({ written: 0 });
      await backend.cleanup();
      expect(six.dump()).not.toContain('KUBE-SERVICES');
    } finally {
      six.remove();
    }
  });
});

describe('the xtables lock, with iptables-legacy', () => {
  let bench: Bench;
  beforeEach(() => void (bench = new Bench('legacy')));
  afterEach(() => bench.remove());

  /** Holds the lock in another process, as soon as this resolves. */
  async function holdLock(seconds: number): Promise<{ readonly released: Promise<void> }> {
    const holder = spawn('flock', [lockFile, 'sh', '-c', `echo held; exec sleep ${seconds}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const released = new Promise<void>((resolve) => holder.once('exit', () => resolve()));
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    return { released };
  }

  it('is waited for, and the wait measured', async () => {
    const backend = await bench.started();
    const { released } = await holdLock(3);
    const began = performance.now();
    const { failed } = await backend.apply([bench.services.set(9)], bench.node);
    expect(failed).toEqual([]);
    expect(bench.waits.at(-1)).toBeGreaterThan(1);
    expect(bench.waits.at(-1)).toBeLessThan((performance.now() - began) / 1000);
    expect(bench.dump()).toContain(serviceChain(9));
    await released;
  });

  it('has its own error when it stays held', async () => {
    const backend = await bench.started();
    const { released } = await holdLock(7);
    await expect(backend.apply([bench.services.set(9)], bench.node)).rejects.toThrow(XtablesLockedError);
    await (await released, backend.start(bench.services.all, bench.node));
    expect(bench.dump()).toContain(serviceChain(9));
  });
});

describe.each(sampleOf(['nft', 'legacy'] as const))('watching the rules of iptables-%s', (variant) => {
  const inspector = variant === 'nft' ? 'iptables-nft' : 'iptables-legacy';
  let bundle: DriverBundle<Handlers>;
  let namespace: Namespace;
  let driver: Driver<Handlers>;

  beforeAll(async () => {
    bundle = await DriverBundle.make<Handlers>(new URL('./iptables-driver/driver.ts', import.meta.url));
    namespace = await Namespace.open('ipdw');
    driver = namespace.drive(bundle);
    await driver.ask('open', variant, ['IPv4', 'IPv6'], lockFile);
  });
  afterAll(async () => {
    await namespace.close();
    await bundle.remove();
  });

  it('does not read the tables while nobody touches them', async () => {
    for (const family of ['IPv4', 'IPv6'] as const) {
      expect(await driver.ask('start', family, 10, 2)).toMatchObject({ failed: 0 });
      expect(await driver.ask('change', family, [3, 40], 3)).toMatchObject({ failed: 0 });
      expect(await driver.ask('change', family, [4], 0)).toMatchObject({ failed: 0 });
    }
    for (const family of ['IPv4', 'IPv6'] as const)
      expect(await driver.ask('verify', family, 'quick')).toMatchObject({ compared: false, written: 0 });
  });

  it('sees what another program did to the tables while a change waited for the lock', async () => {
    const damage = `sleep 0.7; XTABLES_LOCKFILE=${lockFile}.other ${inspector} -t nat -F ${serviceChain(6)}`;
    const holding = namespace.run(['flock', lockFile, 'sh', '-c', damage]);
    await pause(300);
    expect(await driver.ask('change', 'IPv4', [7], 3)).toMatchObject({ failed: 0 });
    await holding;
    expect(await driver.ask('verify', 'IPv4', 'quick')).toMatchObject({ compared: true, written: 3 });
    expect(await driver.ask('verify', 'IPv4', 'quick')).toMatchObject({ compared: false });
  });

  if (variant === 'nft')
    it('sees what another program did beside a change of ours that changed nothing', async () => {
      const empty = '*nat\n:KUBE-TEST - [0:0]\nCOMMIT\n';
      const before = (await driver.ask('generation'))!;
      // Two commits of one restore, then one that empties an empty chain: the kernel does not number that.
      const input = `${empty}*mangle\n:KUBE-TEST - [0:0]\nCOMMIT\n`;
      expect(await driver.ask('write', 'IPv4', input)).toEqual([before + 1, before + 2]);
      expect(await driver.ask('write', 'IPv4', empty)).toEqual([]);
      expect(await driver.ask('verify', 'IPv4', 'quick')).toMatchObject({ compared: false });
      await namespace.run([inspector, '-w', '5', '-t', 'nat', '-F', 'PREROUTING']);
      expect(await driver.ask('write', 'IPv4', empty)).toEqual([]);
      expect(await driver.ask('verify', 'IPv4', 'quick')).toMatchObject({ compared: true, written: 1 });
      expect(await driver.ask('verify', 'IPv4', 'quick')).toMatchObject({ compared: false });
    });

  it('compares when it is to, whatever the signs say', async () => {
    // As many bytes as before, so that iptables-legacy has no sign of it.
    const replaced = ['KUBE-MARK-MASQ', '1', '-j', 'MARK', '--set-xmark', '0x8000/0x8000'];
    await namespace.run([inspector, '-w', '5', '-t', 'nat', '-R', ...replaced]);
    expect(await driver.ask('verify', 'IPv4', 'full')).toMatchObject({ compared: true, written: 2 });
    expect(await driver.ask('verify', 'IPv4', 'full')).toMatchObject({ compared: true, written: 0 });
  });

  it('makes the counters that rules name', async () => {
    expect(await driver.ask('counters')).toEqual({
      before: 'none',
      counters: ['ct_state_invalid_dropped_pkts', 'localhost_nps_accepted_pkts'],
      packets: 0,
    });
  });

  it('keeps no socket open when the mode is closed', async () => {
    const { open, closed } = await driver.ask('modeSockets');
    expect(open).toBeGreaterThan(0);
    expect(closed).toBe(0);
  });

  it.each([
    ['a rule of a service', ['-t', 'nat', '-D', serviceChain(5), '1'], 4],
    ['a jump', ['-D', 'FORWARD', '1'], 1],
    ['the canary', ['-t', 'mangle', '-X', 'KUBE-PROXY-CANARY'], 1],
  ])('sees at a glance that somebody deletes %s', async (_, damage, most) => {
    await namespace.run([inspector, '-w', '5', ...damage]);
    const { compared, written } = await driver.ask('verify', 'IPv4', 'quick');
    expect(compared).toBe(true);
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThanOrEqual(most);
    expect(await driver.ask('verify', 'IPv4', 'quick')).toMatchObject({ compared: false });
  });
});
