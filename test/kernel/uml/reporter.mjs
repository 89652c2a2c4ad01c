/** A reporter for node:test in a guest: one line of JSON for each thing that becomes known (guest-tests.ts reads them). */
export default async function* report(source) {
  for await (const { type, data } of source) {
    if (data.skip !== undefined) continue;
    if (type === 'test:dequeue') yield line({ type: 'run', name: data.name });
    else if (type === 'test:start') yield line({ type: 'start', name: data.name, nesting: data.nesting });
    else if (type === 'test:pass' || type === 'test:fail')
      yield line({
        type: 'end',
        name: data.name,
        nesting: data.nesting,
        suite: data.details.type === 'suite',
        milliseconds: Math.round(data.details.duration_ms),
        ...(type === 'test:fail' && failure(data.details.error)),
      });
  }
  yield line({ type: 'complete' });
}

/** What was thrown stands in the cause of the runner's own error. */
function failure({ failureType, message, cause }) {
  return { failureType, error: cause?.stack ?? String(cause ?? message) };
}

function line(event) {
  return `${JSON.stringify(event)}\n`;
}
