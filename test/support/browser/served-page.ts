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
  ) {}

  /** @param count so many Services besides those of `pageObjects` */
  static async open(count = 0): Promise<ServedPage> {
    const namespace = await Namespace.open('page');
    await namespace.run(['ip', 'link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', 'away']);
    await namespace.run(['ip', 'address', 'add', '198.51.100.11/24', 'dev', 'uplink']);
    await namespace.run(['ip', 'link', 'set', 'away', 'up']);
    await namespace.run(['ip', 'link', 'set', 'uplink', 'arp', 'off', 'up']);
    await namespace.run(['ip', 'route', 'add', 'default', 'dev', 'uplink']);
    const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-page-'));
    const browser = await BrowserIn.open(namespace.name);
    const served = new ServedPage(new Host(namespace.name), browser, namespace, folder);
    await served.place(pageObjects());
    if (count > 0) await writeFile(join(folder, 'many.json'), manyServices(count));
    await served.startProxy();
    return served;
  }

  /** Starts the proxy unless it runs; returns when everything is programmed. */
  async startProxy(): Promise<void> {
    if (this.proxy) return;
    const proxy = await Command.start(this.node, [
      ...['--proxy-mode', 'nftables', '--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'],
      ...['--manifests', this.folder, '--conntrack-max-per-core', '0'],
      ...['--conntrack-tcp-timeout-established', '0', '--conntrack-tcp-timeout-close-wait', '0'],
    ]);
    this.proxy = proxy;
    await proxy.until('everything is programmed', async () => (await syncStateOf(this.node)).idle);
  }

  async killProxy(): Promise<void> {
    if (this.proxy?.running) await this.proxy.stop('SIGKILL');
    this.proxy = undefined;
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
