/** The one place where the proxy loads its diagnostics: at the first request for a debug route or the page. */
export const loadDebugRoutes = () => import('../diagnostics/bootstrap/debug-routes.js');
