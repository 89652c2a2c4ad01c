import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '../program/command.js';
import { Namespace } from '../program/in-namespace.js';
import { Host } from '../testbed/host.js';
import { BrowserIn } from './browser-in.js';
import { manyServices, pageObjects } from './page-cluster.js';
import { syncStateOf } from '../program/status.js';

/** Where the page is, in the namespace. */
export const ADDRESS = 'http://127.0.0.1:10249';

/** The real program with its page, and a browser, in a namespace whose packets to pods leave it and are answered by nobody. */
export class ServedPage {
  private proxy: Command | undefined;

  private constructor(
    readonly node: Host,
    readonly browser: BrowserIn,
    private readonly namespace: Namespace,
    private readonly folder: string,
    private readonly nodeName: string,
  ) {}

  /**
   * @param count so many Services besides those of `pageObjects`
   * @param objects in place of `pageObjects`, with the Node of this name
   */
  static async open(count = 0, objects = pageObjects(), nodeName = 'node1'): Promise<ServedPage> {
    const namespace = await Namespace.open('page');
    await namespace.run(['ip', 'link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', 'away']);
    await namespace.run(['ip', 'address', 'add', '198.51.100.11/24', 'dev', 'uplink']);
    await namespace.run(['ip', 'link', 'set', 'away', 'up']);
    await namespace.run(['ip', 'link', 'set', 'uplink', 'arp', 'off', 'up']);
    await namespace.run(['ip', 'route', 'add', 'default', 'dev', 'uplink']);
    await namespace.run(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']);
    const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-page-'));
    const browser = await BrowserIn.open(namespace.name);
    const served = new ServedPage(new Host(namespace.name), browser, namespace, folder, nodeName);
    await served.place(objects);
    if (count > 0) await writeFile(join(folder, 'many.json'), manyServices(count));
    await served.startProxy();
    return served;
  }

  /** Starts the proxy unless it runs, or continues it; returns when everything is programmed. */
  async startProxy(): Promise<void> {
    if (this.proxy) {
      process.kill(this.proxy.pid, 'SIGCONT');
      return;
    }
    const proxy = await Command.start(this.node, [
      ...[
        '--proxy-mode',
        'nftables',
        '--hostname-override',
        this.nodeName,
        '--cluster-cidr',
        '10.244.0.0/16',
      ],
      ...['--manifests', this.folder, '--conntrack-max-per-core', '0'],
      ...['--conntrack-tcp-timeout-established', '0', '--conntrack-tcp-timeout-close-wait', '0'],
    ]);
    this.proxy = proxy;
    await proxy.until('everything is programmed', async () => (await syncStateOf(this.node)).idle);
  }

  /** From now on, the kernel accepts its connections, and nobody answers. */
  hangProxy(): void {
    process.kill(this.proxy!.pid, 'SIGSTOP');
  }

  async killProxy(): Promise<void> {
    const proxy = this.proxy;
    this.proxy = undefined;
    if (proxy?.running) await proxy.stop('SIGKILL');
  }

  /** Replaces the objects of `pageObjects` in one step. */
  async place(objects: string): Promise<void> {
    await writeFile(join(this.folder, 'next'), objects);
    await rename(join(this.folder, 'next'), join(this.folder, 'objects.yaml'));
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.killProxy();
    await this.node.killAgent();
    await this.namespace.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
