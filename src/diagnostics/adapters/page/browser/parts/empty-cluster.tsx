import type { JSX } from 'preact';

/** What to do where the proxy has no Service to serve. */
export function EmptyCluster(): JSX.Element {
  return (
    <div class="panel empty">
      <h2>No Service yet</h2>
      <p>This proxy serves no Service: the cluster has none, or it does not see them.</p>
      <ul>
        <li>
          From an API server: make one, such as <code>kubectl expose deployment web --port 80</code>. If there
          should be some, the overview has what the watches of this proxy hear, and why they hear nothing.
        </li>
        <li>
          From manifests: put Services and their EndpointSlices into the folder of <code>--manifests</code>;{' '}
          <code>kubeproxy validate</code> says what is wrong with files that are ignored.
        </li>
      </ul>
    </div>
  );
}
