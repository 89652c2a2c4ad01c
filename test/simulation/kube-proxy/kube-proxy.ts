import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Change } from '../../support/api-server/object-store.js';
import type { Simulation } from '../simulation.js';
import type { Mode } from '../world/settings.js';
import type { Planned } from '../world/scheduler.js';
import { iptablesMode } from './iptables-mode.js';
import { ipvsMode } from './ipvs-mode.js';
import { servedPort, type KubeProxyMode, type ServedPort } from './kube-proxy-mode.js';
import { nftablesMode } from './nftables-mode.js';

export const KUBE_PROXY_MODES = ['iptables', 'nftables', 'ipvs'] as const;
export type KubeProxyModeName = (typeof KUBE_PROXY_MODES)[number];

const MODES: Readonly<Record<KubeProxyModeName, KubeProxyMode>> = {
  iptables: iptablesMode,
  nftables: nftablesMode,
  ipvs: ipvsMode,
};
/** Which rules it removes at its start: those of modes iptables and ipvs may stay side by side. */
const REMOVED: Readonly<Record<KubeProxyModeName, readonly KubeProxyModeName[]>> = {
  iptables: ['nftables'],
  ipvs: ['nftables'],
  nftables: ['iptables', 'ipvs'],
};

/** Simulated milliseconds: from its start to its first rules, between two syncs, and between two looks at its rules. */
const LISTING = 200;
const BETWEEN_SYNCS = 1_000;
const BETWEEN_LOOKS = 30_000;
const AFTER_FAILURE = 30_000;

const SERVICES = '/api/v1/services';
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
const NODES = '/api/v1/nodes';
const OF_SERVICE = 'kubernetes.io/service-name';

/**
 * kube-proxy 1.36 on the node of a world, as another program: what it writes is worked out from the objects and docs/internals/spec, with
 * nothing of the proxy's own.
 */
export class KubeProxy {
  private mode: KubeProxyModeName | undefined;
  private sync: Planned | undefined;
  private look: Planned | undefined;
  private isFollowing = false;
  private startedAt = 0;
  private startedBesideProxy = false;
  /** It found a table of the proxy's oldest layout, which has its own names (docs/internals/nftables.md). */
  private cannotTakeOver = false;
  /** Services that changed since the last sync; undefined: the next one is a full one. */
  private changed: Set<string> | undefined;
  /** How many commits there were when everything was as it writes it, after its last sync; undefined: something may not have been. */
  private commits: number | undefined;
  /** When it wrote last, in which mode. */
  private last: { readonly mode: KubeProxyModeName; readonly at: number } | undefined;

  constructor(private readonly simulation: Simulation) {}

  /** Starts it, in place of the one that runs. */
  start(mode: KubeProxyModeName): void {
    this.stop();
    const { cluster, world } = this.simulation;
    if (!this.isFollowing) cluster.api.store.subscribe((change) => this.note(change));
    this.isFollowing = true;
    this.mode = mode;
    this.startedAt = world.now;
    this.startedBesideProxy = world.proxy.isRunning;
    this.cannotTakeOver = world.machine.commits === this.simulation.untakenAt;
    this.changed = undefined;
    this.write(() => {
      for (const other of REMOVED[mode]) MODES[other].remove(world.machine, this.families);
      MODES[mode].begin?.(world.machine, this.families);
    });
    this.soon(LISTING);
    this.lookAgain();
  }

  /** It is killed: its rules stay. */
  stop(): void {
    this.mode = undefined;
    this.sync?.cancel();
    this.look?.cancel();
    this.sync = undefined;
  }

  /**
   * `kube-proxy --cleanup`: no rules of any mode are left, whoever wrote them. It takes two, where rules of mode ipvs lead to chains that
   * are to go with those of mode iptables: the first one ends with 1.
   */
  cleanUp(): void {
    this.stop();
    this.last = undefined;
    const { everyCommit, world } = this.simulation;
    everyCommit.damage(() => {
      for (const mode of [...KUBE_PROXY_MODES, ...KUBE_PROXY_MODES])
        MODES[mode].remove(world.machine, this.families);
    });
  }

  /** It is gone for good, and so are rules that nobody looks after: the proxy has looked for rules of other modes before they came. */
  end(): void {
    this.stop();
    const { last, simulation } = this;
    const { proxy } = simulation.world;
    if (last && last.mode !== simulation.mode && proxy.isRunning && last.at > proxy.startedAt) this.cleanUp();
  }

  private get families(): readonly IpFamily[] {
    return this.simulation.world.settings.families;
  }

  private note({ collection, after: { metadata } }: Change): void {
    if (collection === SERVICES) this.changed?.add(`${metadata.namespace}/${metadata.name}`);
    else if (collection === SLICES)
      this.changed?.add(`${metadata.namespace}/${metadata.labels?.[OF_SERVICE] ?? ''}`);
    // Of the Node only some labels lead to a full sync, and new podCIDRs to a new process.
    else if (collection === NODES) this.changed = undefined;
    this.soon(BETWEEN_SYNCS);
  }

  private soon(milliseconds: number): void {
    if (this.mode === undefined) return;
    const { world } = this.simulation;
    if (this.sync && this.sync.at <= world.now + milliseconds) return;
    this.sync?.cancel();
    this.sync = world.scheduler.after(milliseconds, () => this.syncNow(), world.fate);
  }

  private lookAgain(): void {
    const { world } = this.simulation;
    this.look = world.scheduler.after(
      BETWEEN_LOOKS,
      () => {
        if (this.mode && MODES[this.mode].isDamaged(world.machine, this.families)) {
          this.changed = undefined;
          this.soon(0);
        }
        this.lookAgain();
      },
      world.fate,
    );
  }

  private syncNow(): void {
    const { mode, simulation } = this;
    if (!mode) return;
    const { world, history } = simulation;
    this.sync = undefined;
    const { faults, lock } = world.machine.programs;
    // What its tools do to it in trouble is another matter.
    if (!faults.areOver || !lock.isFree) return this.soon(BETWEEN_SYNCS);
    const ports = history.ports.map(servedPort);
    // An element of a map leads to one place: of two Services with one address the kernel rejects the whole transaction, and it tries
    // again.
    if (mode === 'nftables' && isContested(ports)) return this.soon(BETWEEN_SYNCS);
    const { addresses, localNetworks } = history.ofNode;
    const changed = MODES[mode].syncsPartially ? this.changed : undefined;
    // What others have done since the last full sync may stay.
    const isWhole = !changed || this.commits === world.machine.commits;
    this.changed = new Set();
    this.write(() => {
      for (const family of this.families)
        try {
          MODES[mode].sync(
            world.machine,
            family,
            ports.filter((port) => port.family === family),
            { address: addresses[family], localNetwork: localNetworks[family] },
            changed,
          );
        } catch (error) {
          // Chains that it takes to be there may be gone.
          if (isWhole && !this.cannotTakeOver)
            simulation.breaks('kube-proxy can take over', (error as Error).message);
          this.changed = undefined;
        }
    });
    this.last = { mode, at: world.now };
    simulation.mayForgetFrontends = true;
    if (!this.changed) return this.soon(AFTER_FAILURE);
    this.commits = isWhole ? world.machine.commits : undefined;
    if (world.proxy.isRunning) return;
    if (isWhole) this.serves(mode);
    else simulation.everyCommit.damage(() => undefined, true);
  }

  /**
   * While the proxy runs, both write, and nothing is promised until all is quiet. Where it does not, and left
   * rules of the same mode for just this cluster, kube-proxy changes nothing of what packets meet; else it may leave a gap.
   */
  private write(act: () => void): void {
    const { mode, simulation } = this;
    const { everyCommit, modes, world } = simulation;
    const isRunning = world.proxy.isRunning;
    if (!isRunning && this.findsEverything()) return act();
    everyCommit.damage(act, isRunning);
    if (isRunning && mode) modes.add(mode);
  }

  private findsEverything(): boolean {
    const { everyCommit, history, modes } = this.simulation;
    const isTouched = history.services.some((service) => history.isTouched(service));
    return everyCommit.isWhole && !isTouched && [...modes].every((mode) => mode === this.mode);
  }

  private serves(mode: KubeProxyModeName): void {
    const { modes, world } = this.simulation;
    // It removes them once, when it starts: what the proxy has written since is there.
    const isAlone = !this.startedBesideProxy && world.proxy.startedAt <= this.startedAt;
    const stay = [...modes].filter((other) => other !== mode && !(isAlone && isIn(REMOVED[mode], other)));
    servedByOthers(this.simulation, mode, stay);
  }
}

/** Whether two ports have one frontend. */
function isContested(ports: readonly ServedPort[]): boolean {
  const frontends = ports.flatMap(({ family, frontends: its }) =>
    its.map(({ address, protocol, port }) => `${family} ${address ?? 'node'} ${protocol} ${port}`),
  );
  return new Set(frontends).size < frontends.length;
}

function isIn(all: readonly KubeProxyModeName[], mode: Mode): boolean {
  return (all as readonly Mode[]).includes(mode);
}

/**
 * While the proxy does not run, others have written rules of this mode for the cluster as it is. What they serve is there for good:
 * whoever takes over from them must serve it in each state.
 * @param beside modes of which there are other rules, too, that nobody looks after: then nothing is promised
 */
export function servedByOthers(simulation: Simulation, mode: Mode, beside: readonly Mode[] = []): void {
  const { modes, everyCommit, history, world } = simulation;
  modes.clear();
  for (const present of [mode, ...beside]) modes.add(present);
  const { addresses } = history.ofNode;
  const isWhole = world.settings.families.every((family) => world.machine.links.isLocal(addresses[family]));
  if (beside.length > 0 || !isWhole) return everyCommit.damage(() => undefined, true);
  const problem = everyCommit.presentProblem();
  if (problem !== undefined) simulation.breaks('others serve, too', problem);
  history.settle();
  everyCommit.mended();
}
