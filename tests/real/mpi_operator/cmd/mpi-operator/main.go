// Command mpi-operator runs the upstream's controller of MPIJobs v2beta1, unchanged.
//
// The upstream's own main listens on all addresses, at a fixed port, and waits for a lease; this one does neither.
package main

import (
	"flag"
	"log"
	"net/http"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	mpi "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	"github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	mpiinformers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientgo "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	opt := options.NewServerOption()
	opt.AddFlags(flag.CommandLine)
	flag.StringVar(&opt.Kubeconfig, "kubeconfig", "", "the cluster") // the upstream's name for it has a capital letter
	probes := flag.String("health-probe-bind-address", "127.0.0.1:0", "where /readyz is")
	flag.Parse()
	ctx := server.SetupSignalContext()
	config, err := clientcmd.BuildConfigFromFlags("", opt.Kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.QPS, config.Burst = 500, 1000
	if err := scheme.AddToScheme(clientgo.Scheme); err != nil { // for its events
		log.Fatal(err)
	}
	kube, jobs := kubernetes.NewForConfigOrDie(config), mpi.NewForConfigOrDie(config)
	own, theirs := informers.NewSharedInformerFactory(kube, 0), mpiinformers.NewSharedInformerFactory(jobs, 0)
	core := own.Core().V1()
	made, err := controller.NewMPIJobController(
		ctx, kube, jobs, nil, nil, core.ConfigMaps(), core.Secrets(), core.Services(), own.Batch().V1().Jobs(),
		core.Pods(), own.Scheduling().V1().PriorityClasses(), theirs.Kubeflow().V2beta1().MPIJobs(), opt,
	)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/readyz", func(http.ResponseWriter, *http.Request) {})
	go func() { log.Fatal(http.ListenAndServe(*probes, nil)) }()
	own.Start(ctx.Done())
	theirs.Start(ctx.Done())
	if err := made.Run(opt.Threadiness, ctx.Done()); err != nil {
		log.Fatal(err)
	}
}
