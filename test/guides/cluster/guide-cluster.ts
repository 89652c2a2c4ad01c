import '../../support/repeat-once.js';
import type { V1DaemonSet } from '@kubernetes/client-node';
import { readFile } from 'node:fs/promises';
import { FreshCheckout } from '../../package/fresh-checkout.js';
import type { ApiObject } from '../../support/api-server/object-store.js';
import { kubeadmObjects } from '../../support/cluster/kubeadm-objects.js';
import { CONTROL_PLANE, StandInCluster } from '../../support/cluster/stand-in-cluster.js';
import { builtProxy } from '../../support/program/built-proxy.js';
import { Namespace } from '../../support/program/in-namespace.js';
import { statusOf } from '../../support/program/status.js';
import { Host } from '../../support/testbed/host.js';
import { Testbed } from '../../support/testbed/testbed.js';
import { Backend, errorsOf, SteadyClient, type Destination } from '../../support/testbed/traffic.js';
import { until } from '../../support/until.js';
import { clusterTools, npm } from '../runner/clone.js';
import type { Step } from '../runner/guide.js';
import { GuideShell, type Outcome } from '../runner/guide-shell.js';
import type { Machine } from '../runner/machine.js';
import type { StandIn } from '../runner/stand-ins.js';

/** What kube-proxy's transactions were recorded for, and they themselves. */
const recorded = (name: string): Promise<string> =>
  readFile(new URL(`../../conformance/rollback/${name}`, import.meta.url), 'utf8');

/** A service of the recording, from a pod and from outside. */
export const cart = { what: 'http', dst: '10.96.77.1', port: 80 } as const;
export const cartFromOutside = { what: 'http', dst: '203.0.113.9', port: 80, src: '203.0.113.5' } as const;

export interface GuideClusterOptions {
  /** kube-proxy's; its rules of mode nftables are there, on the first node. Undefined: kube-proxy was never installed. */
  readonly mode?: string;
  /** What the nodes are called, if not `clnode1` and `clnode2`. */
  readonly nodes?: readonly [string, string];
  /** The cluster has neither nodes nor services, until `populate`. */
  readonly empty?: boolean;
  /** Programs that the guide uses and this machine does not have. */
  readonly standIns?: Readonly<Record<string, StandIn>>;
  /** Variables of the shell, over KUBECONFIG. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the shell runs, if not on this machine. */
  readonly machine?: Machine;
}

/**
 * A cluster as kubeadm makes it, and a reader's shell in a fresh clone. Of the two nodes `clnode1` has a pod, clients outside and the
 * endpoints of `cart`; kube-proxy is on both.
 */
export class GuideCluster {
  private constructor(
    readonly testbed: Testbed,
    readonly cluster: StandInCluster,
    readonly shell: GuideShell,
    readonly checkout: FreshCheckout,
    private readonly second: Namespace,
    private readonly secondHost: Host,
  ) {}

  static async start(options: GuideClusterOptions): Promise<GuideCluster> {
    const { mode, standIns = {}, env, machine, nodes: [one, other] = ['clnode1', 'clnode2'] } = options;
    const [testbed, second, checkout] = await Promise.all([
      Testbed.open(),
      Namespace.open('guide'),
      FreshCheckout.make(),
    ]);
    const secondHost = new Host(second.name);
    for (const command of [
      'link add node0 type veth peer name node0p',
      'link set node0 up',
      'link set node0p up',
      'address add 198.51.100.12/24 dev node0',
    ])
      await second.run(['ip', ...command.split(' ')]);
    await Promise.all([
      Backend.start(testbed, 'b1', '10.244.1.10'),
      Backend.start(testbed, 'b2', '10.244.2.11'),
    ]);
    const startKubeProxy = async (config: string): Promise<void> => {
      if (!/^mode: nftables$/m.test(config)) return;
      for (const family of ['ip', 'ip6'])
        await testbed.node.run(['nft', '-f', '-'], await recorded(`kube-proxy-start-${family}.nft`));
      // It was recorded on a node without an address of its own.
      const element = ['nft', 'add', 'element', 'ip', 'kube-proxy', 'nodeport-ips', '{ 198.51.100.11 }'];
      await testbed.node.run(element);
    };
    // Its rules were recorded for the first node alone: on the other one this program writes them, once for all.
    let written: string | undefined;
    const startOther = async (config: string): Promise<void> => {
      if (!/^mode: nftables$/m.test(config)) return;
      if (written !== undefined) return void (await second.run(['nft', '-f', '-'], written));
      const { address, port } = CONTROL_PLANE;
      const api = ['--kubeconfig', cluster.kubeconfig, '--master', `https://${address}:${port}`];
      const flags = ['--once', '--proxy-mode', 'nftables', '--cluster-cidr', '10.244.0.0/16', ...api];
      const harmless = ['--conntrack-max-per-core', '0', '--conntrack-min', '0'];
      const program = [process.execPath, await builtProxy(), '--hostname-override', other];
      await second.run([...program, ...flags, ...harmless]);
      const tables = ['ip', 'ip6'].map(async (family) => {
        const table = ['table', family, 'kube-proxy'];
        const listed = await second.run(['nft', '--stateless', 'list', ...table]);
        return `add ${table.join(' ')}\ndelete ${table.join(' ')}\n${listed}\n`;
      });
      written = (await Promise.all(tables)).join('');
    };
    const cluster: StandInCluster = await StandInCluster.start([
      { name: one, host: testbed.node, address: '198.51.100.11', startKubeProxy },
      { name: other, host: secondHost, address: '198.51.100.12', startKubeProxy: startOther },
    ]);
    const shell = await GuideShell.open({
      folder: checkout.folder,
      env: { KUBECONFIG: cluster.kubeconfig, ...env },
      programs: clusterTools,
      standIns: { npm, ...standIns },
      ...(machine && { within: machine.commandLine }),
    });
    const guide = new GuideCluster(testbed, cluster, shell, checkout, second, secondHost);
    if (!options.empty) await guide.populate(mode);
    return guide;
  }

  /** Brings nodes and services, and kube-proxy, if it is to have a mode; waits until it runs. */
  async populate(mode: string | undefined): Promise<void> {
    const { items } = JSON.parse(await recorded('objects.json')) as { items: readonly ApiObject[] };
    const names = this.cluster.kubelets.map(({ node }) => node.name);
    const nodes = names.map((name, index) => nodeOf(name, index));
    const others = items.filter(({ kind }) => kind !== 'Node');
    this.cluster.put([...nodes, ...others, ...(mode === undefined ? [] : kubeadmObjects(mode))]);
    if (mode !== undefined) await this.kubeProxyReady();
  }

  /** Takes all objects away, with what runs and what it left on the first node. */
  async depopulate(): Promise<void> {
    this.cluster.clear();
    await this.runsOn();
    await this.testbed.flushNode();
  }

  /** Has the proxy installed already, by Helm, with these values. */
  async install(...values: readonly string[]): Promise<void> {
    const { address, port } = CONTROL_PLANE;
    const all = [`apiServer=https://${address}:${port}`, 'clusterCIDR=10.244.0.0/16', ...values];
    const command = `helm install kube-proxy-ts deploy/chart --namespace kube-system --wait --set ${all.join(',')}`;
    await this.shell.run([{ place: 'before the guide', section: '', command }]);
  }

  /** How many nodes were without a ready proxy of ours at once, at most, up to the call of what it returns. */
  watchReadiness(): () => number {
    let most = 0;
    const stop = this.cluster.api.store.subscribe(({ after }) => {
      if (after.kind !== 'DaemonSet' || after.metadata.name !== 'kube-proxy-ts') return;
      most = Math.max(most, (after as unknown as V1DaemonSet).status?.numberUnavailable ?? 0);
    });
    return () => {
      stop();
      return most;
    };
  }

  /** Runs the commands of one section of a page. */
  async section(steps: readonly Step[], name: string): Promise<readonly Outcome[]> {
    const own = steps.filter(({ section }) => section === name);
    if (own.length === 0) throw new Error(`the page has no commands in a section "${name}"`);
    const outcomes: Outcome[] = [];
    for (const step of own) {
      if (step.command.startsWith('kubectl kubeproxy status')) await this.inSync();
      outcomes.push(...(await this.shell.run([step])));
    }
    return outcomes;
  }

  /**
   * The proxies that answer have programmed all that they know of, and look for rules of other modes no more: mode iptables waits a
   * second between two syncs, and the look comes after the first.
   */
  async inSync(): Promise<void> {
    await until('all is in sync', async () => (await this.syncStates()).every((inSync) => inSync !== false));
  }

  /** Clients that ask at these addresses all the time. */
  clients(...destinations: readonly Destination[]): Promise<SteadyClient[]> {
    return Promise.all(
      destinations.map((destination) =>
        SteadyClient.start(destination.src ? this.testbed.ext : this.testbed.pod, destination, 20),
      ),
    );
  }

  /** Stops the clients; every request of theirs was answered. */
  async expectNothingLost(clients: readonly SteadyClient[]): Promise<void> {
    for (const client of clients) {
      const requests = await client.stop();
      expect(requests.length).toBeGreaterThan(0);
      expect(errorsOf(requests)).toEqual({});
    }
  }

  /** Waits until proxies of ours answer on these nodes, and on no others. */
  async runsOn(...names: readonly string[]): Promise<void> {
    const what = `proxies run on ${names.join(', ') || 'no node'}`;
    await until(what, async () => (await this.proxiesRunning()).join() === names.join());
  }

  /** The nodes on which a proxy of ours answers now. */
  async proxiesRunning(): Promise<readonly string[]> {
    const answers = await this.syncStates();
    const names = this.cluster.kubelets.map(({ node }) => node.name);
    return names.filter((_, index) => answers[index] !== undefined);
  }

  /** By node: whether its proxy says that it is in sync; undefined: there is none. */
  private syncStates(): Promise<readonly (boolean | undefined)[]> {
    return Promise.all(
      this.cluster.kubelets.map(({ node }) =>
        statusOf(node.host).then(
          ({ inSync }) => inSync,
          () => undefined,
        ),
      ),
    );
  }

  async close(): Promise<void> {
    await this.shell.close();
    await this.cluster.close();
    await this.secondHost.killAgent();
    await Promise.all([this.testbed.close(), this.second.close(), this.checkout.remove()]);
  }

  private async kubeProxyReady(): Promise<void> {
    await until('kube-proxy runs', async () => {
      const [daemonSet] = this.cluster.objects<V1DaemonSet>('apps/v1', 'DaemonSet');
      return daemonSet?.status?.numberReady === 2;
    });
  }
}

function nodeOf(name: string, index: number): ApiObject {
  const podCIDR = `10.244.${index + 1}.0/24`;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': name } },
    spec: { podCIDR, podCIDRs: [podCIDR] },
    status: { addresses: [{ type: 'InternalIP', address: `198.51.100.1${index + 1}` }] },
  };
}
