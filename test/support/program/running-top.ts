import type { PortReport, TrafficReport } from '../../../src/diagnostics/domain/traffic.js';
import type { Host } from '../testbed/host.js';
import { until } from '../until.js';
import { Command } from './command.js';

/** A `kubeproxy top` that goes on, and the reports it has printed so far: started → stopped. */
export class RunningTop {
  private constructor(private readonly command: Command) {}

  /** Returns when it counts everything. */
  static async start(host: Host, ...args: readonly string[]): Promise<RunningTop> {
    const command = await Command.start(host, ['top', '--interval', '200ms', '-o', 'json', ...args]);
    const top = new RunningTop(command);
    await until('top counts', async () => top.reports.some(({ complete }) => complete));
    return top;
  }

  get reports(): readonly TrafficReport[] {
    const lines = this.command.output.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as TrafficReport);
  }

  get last(): TrafficReport {
    return this.reports.at(-1)!;
  }

  /** Of a number over all intervals. */
  sum(number: 'newConnections' | 'unansweredConnections' | 'bytes', service: string, port: string): number {
    return this.reports.reduce((sum, report) => sum + (portOf(report, service, port)?.[number] ?? 0), 0);
  }

  async stop(): Promise<number | undefined> {
    return (await this.command.stop('SIGINT')).exitCode;
  }
}

/** What is reported of a port of a Service in the namespace `default`. */
export function portOf({ services }: TrafficReport, service: string, port: string): PortReport | undefined {
  return services.find((row) => row.namespace === 'default' && row.name === service && row.portName === port);
}

/** Open connections by the address of the endpoint. */
export function openBy(port: PortReport | undefined): Record<string, number> {
  return Object.fromEntries(
    (port?.endpoints ?? []).map(({ address, openConnections }) => [address, openConnections]),
  );
}
