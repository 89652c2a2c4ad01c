import type { PlantedFault } from './fault.js';

const REFLECTOR = 'src/adapters/kubernetes/watch/reflector.ts';

/** How the program follows the API server. */
export const WATCH_FAULTS: readonly PlantedFault[] = [
  {
    name: 'deletions-pass-unnoticed',
    file: REFLECTOR,
    original: "    else if (type === 'DELETED') this.known.delete(object);\n",
    fault: '',
  },
  {
    name: 'lists-delete-nothing',
    file: 'src/adapters/kubernetes/watch/known-objects.ts',
    original: '    if (this.namesEverything) for (const key of this.missing) this.known.remove(key);\n',
    fault: '',
  },
  {
    name: 'short-watches-lead-to-lists',
    file: 'src/adapters/kubernetes/watch/reflector.ts',
    original: '    } else if (error instanceof ApiProtocolError) {',
    fault: '    } else {',
  },
  {
    name: 'new-objects-pass-unnoticed',
    file: REFLECTOR,
    original: "if (type === 'ADDED' || type === 'MODIFIED')",
    fault: "if (type === 'MODIFIED')",
  },
  {
    name: 'unreadable-events-are-skipped',
    file: 'src/adapters/kubernetes/watch/open-watch.ts',
    original: '      throw new ApiProtocolError(this.name, problem, { cause: error });\n',
    fault: '      return this.decoder.next();\n',
  },
  {
    name: 'silence-in-the-wrong-unit',
    file: 'src/adapters/kubernetes/watch/reflector.ts',
    original: '  silenceMinimum: 120_000,\n  silenceMaximum: 150_000,\n',
    fault: '  silenceMinimum: 120_000_000,\n  silenceMaximum: 150_000_000,\n',
  },
  {
    name: 'retry-after-in-the-wrong-unit',
    file: 'src/adapters/kubernetes/client/api-error.ts',
    original: 'Math.min(number * 1000, LONGEST_WAIT)',
    fault: 'number * 1_000_000',
  },
  {
    name: 'back-off-without-an-end',
    file: 'src/adapters/kubernetes/watch/retries.ts',
    original: 'Math.min(maximum, Math.max(initial, now - this.since))',
    fault: 'Math.max(initial, maximum * (now - this.since))',
  },
  {
    name: 'expired-versions-are-watched-again',
    file: 'src/adapters/kubernetes/watch/reflector.ts',
    original: 'error.expired || error.fromTheFuture || error.code === 404)) {',
    fault: 'error.fromTheFuture || error.code === 404)) {',
  },
  {
    name: 'later-lists-are-of-any-age',
    file: 'src/adapters/kubernetes/watch/reflector.ts',
    original: "this.from = this.from === version ? '' : version;",
    fault: "this.from = '0';",
    modes: ['nftables'],
  },
  {
    name: 'restored-storages-pass-unnoticed',
    file: 'src/adapters/kubernetes/watch/rewind-check.ts',
    original: 'this.asking ??= this.ask().finally(() => (this.asking = undefined));',
    fault: 'this.asking ??= Promise.resolve();',
  },
  {
    name: 'the-storage-is-asked-through-a-cache',
    file: 'src/adapters/kubernetes/watch/rewind-check.ts',
    original: 'const request = { query: { limit: 1 }, signal: this.signal };',
    fault: "const request = { query: { limit: 1, resourceVersion: '0' }, signal: this.signal };",
  },
  {
    name: 'pages-after-the-second-are-lost',
    file: 'src/adapters/kubernetes/watch/resource-reader.ts',
    original: '  while (page.continue) {\n',
    fault: '  if (page.continue) {\n',
  },
  {
    name: 'unreadable-objects-are-deleted',
    file: 'src/adapters/kubernetes/watch/known-objects.ts',
    original:
      '    if (key === undefined) this.namesEverything = false;\n    else this.missing.delete(key);\n',
    fault: '    if (key === undefined) this.namesEverything = false;\n',
  },
  {
    name: 'versions-are-compared-as-texts',
    file: 'src/adapters/kubernetes/watch/known-objects.ts',
    original: 'version.length === other.length ? version < other : version.length < other.length;',
    fault: 'version < other;',
  },
  {
    name: 'the-last-version-is-not-remembered',
    file: REFLECTOR,
    original: '    const version = versionOf(event, this.name);\n    this.position.version = version;\n',
    fault: '    const version = versionOf(event, this.name);\n',
  },
  {
    name: 'all-watches-end-together',
    file: REFLECTOR,
    original: 'return Math.round(minimum + this.random() * (maximum - minimum));',
    fault: 'return minimum;',
  },
  {
    name: 'absent-kinds-are-awaited',
    file: REFLECTOR,
    original: '      this.synced = true;\n      this.listener.absent();\n',
    fault: '',
  },
];
