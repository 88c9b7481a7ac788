// Command training-operator runs the upstream's controllers of TFJobs, PyTorchJobs and MPIJobs, unchanged.
//
// The upstream's own main listens on all addresses and waits for a webhook's certificate; this one has neither.
package main

import (
	"flag"
	"log"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	controllers "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	plugins "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	volcano "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

func main() {
	probes := flag.String("health-probe-bind-address", "127.0.0.1:0", "where /readyz is")
	flag.Parse() // --kubeconfig is controller-runtime's
	ctrl.SetLogger(zap.New())
	config.Config.PyTorchInitContainerImage = config.PyTorchInitContainerImageDefault
	config.Config.PyTorchInitContainerTemplateFile = config.PyTorchInitContainerTemplateFileDefault
	config.Config.PyTorchInitContainerMaxTries = config.PyTorchInitContainerMaxTriesDefault
	config.Config.MPIKubectlDeliveryImage = config.MPIKubectlDeliveryImageDefault

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgo.AddToScheme, kubeflow.AddToScheme, volcano.AddToScheme, plugins.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	client := ctrl.GetConfigOrDie()
	client.QPS, client.Burst = 500, 1000
	manager, err := ctrl.NewManager(client, ctrl.Options{
		Scheme: scheme, Metrics: metrics.Options{BindAddress: "0"}, HealthProbeBindAddress: *probes,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, kind := range []string{kubeflow.TFJobKind, kubeflow.PyTorchJobKind, kubeflow.MPIJobKind} {
		if err := controllers.SupportedSchemeReconciler[kind](manager, common.GenNonGangSchedulerSetupFunc(), 2); err != nil {
			log.Fatal(err)
		}
	}
	if err := manager.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		log.Fatal(err)
	}
	if err := manager.Start(ctrl.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}
