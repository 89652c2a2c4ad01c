import { duration, megabytes } from '../report.js';
import type { ServedFigures } from './measure.js';

/** A table in Markdown. */
export function servedTable(services: number, endpoints: number, figures: ServedFigures): string {
  const { received } = figures;
  const rows = [
    ['size', `${services.toLocaleString('en')} services × ${endpoints} endpoints`],
    [
      'just receiving the lists',
      `${duration(received.milliseconds)}, ${(received.bytes / 1e6).toFixed(1)} MB`,
    ],
    ['start of process to committed', duration(figures.start)],
    ['restart, nothing changed', `${duration(figures.restart)}, ${figures.restartWrites} writes`],
    ['restart, one service in a hundred changed', duration(figures.changedRestart)],
    [
      'peak memory: start, restart, 10,000 changes',
      megabytes(figures.startPeak, figures.restartPeak, figures.changesPeak),
    ],
    ['processor time for a change at 50 a second', `${figures.change.toFixed(2)} ms`],
    ['processor while idle', `${(figures.idle * 100).toFixed(2)} % of a core`],
  ];
  const lines = [['', 'mode nftables at an API server'], ['---', '--:'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
