import { ProxyProcess, type ProxyOptions } from './proxy-process.js';

/**
 * One run of the program for all scenarios of the same configuration that follow each other: each must be free of what the others
 * left, and a start takes longer than most of them.
 */
export class ProxyRuns {
  private proxy: ProxyProcess | undefined;
  private configured = '';

  /** @param empty clears the node before each run */
  constructor(
    private readonly options: Omit<ProxyOptions, 'config' | 'objects'>,
    private readonly empty: () => Promise<void>,
  ) {}

  /** Has a proxy of that configuration program the objects. */
  async program(config: string, objects: string): Promise<ProxyProcess> {
    if (this.proxy && config === this.configured) {
      await this.proxy.change(objects);
      return this.proxy;
    }
    await this.end();
    await this.empty();
    this.proxy = await ProxyProcess.start({ ...this.options, config, objects });
    this.configured = config;
    return this.proxy;
  }

  /** Fails if the proxy does not end well. */
  async end(): Promise<void> {
    const { proxy } = this;
    if (!proxy) return;
    this.proxy = undefined;
    try {
      const exitCode = await proxy.stop('SIGTERM');
      if (exitCode !== 0) throw new Error(`the proxy ended with ${exitCode}:\n${proxy.log}`);
    } finally {
      await proxy.remove();
    }
  }
}
