// Command ray-operator runs the upstream's controllers of RayClusters and RayJobs, unchanged.
//
// The upstream's own main asks the dashboard of a Ray that runs in the cluster's network; this one asks at an address of ours.
package main

import (
	"context"
	"flag"
	"log"

	config "github.com/ray-project/kuberay/ray-operator/apis/config/v1alpha1"
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// provider has the upstream's clients, with one address for the dashboards of all clusters.
type provider struct {
	config.Configuration
	dashboard string
}

type client struct {
	utils.RayDashboardClientInterface
	dashboard string
}

func (c *client) InitClient(ctx context.Context, _ string, cluster *rayv1.RayCluster) error {
	return c.RayDashboardClientInterface.InitClient(ctx, c.dashboard, cluster)
}

func (p provider) GetDashboardClient(m manager.Manager) func() utils.RayDashboardClientInterface {
	upstream := utils.GetRayDashboardClientFunc(m, false)
	return func() utils.RayDashboardClientInterface { return &client{upstream(), p.dashboard} }
}

func main() {
	probes := flag.String("health-probe-bind-address", "127.0.0.1:0", "where /readyz is")
	dashboard := flag.String("dashboard", "", "host and port of the dashboard of every Ray cluster")
	flag.Parse() // --kubeconfig is controller-runtime's
	ctrl.SetLogger(zap.New())

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgo.AddToScheme(scheme))
	utilruntime.Must(rayv1.AddToScheme(scheme))
	rest := ctrl.GetConfigOrDie()
	rest.QPS, rest.Burst = 500, 1000
	ctx := ctrl.SetupSignalHandler()
	m, err := ctrl.NewManager(rest, ctrl.Options{
		Scheme: scheme, Metrics: metrics.Options{BindAddress: "0"}, HealthProbeBindAddress: *probes,
	})
	if err != nil {
		log.Fatal(err)
	}
	settings := config.Configuration{}
	clusters := ray.NewReconciler(ctx, m, ray.RayClusterReconcilerOptions{}, settings)
	if err := clusters.SetupWithManager(m, 2); err != nil {
		log.Fatal(err)
	}
	jobs := ray.NewRayJobReconciler(ctx, m, ray.RayJobReconcilerOptions{}, provider{settings, *dashboard})
	if err := jobs.SetupWithManager(m, 2); err != nil {
		log.Fatal(err)
	}
	if err := m.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		log.Fatal(err)
	}
	if err := m.Start(ctx); err != nil {
		log.Fatal(err)
	}
}
