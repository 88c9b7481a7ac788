// Command mpi-operator runs the upstream's controller of MPIJobs, unchanged.
//
// The upstream's own main listens on a fixed port of all addresses and waits for a Lease; this one does neither.
package main

import (
	"context"
	"flag"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	clientset "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	mpischeme "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	informers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	opt := options.NewServerOption()
	opt.AddFlags(flag.CommandLine)
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", opt.Kubeconfig)
	if err != nil {
		klog.Fatal(err)
	}
	config.QPS, config.Burst = float32(opt.QPS), opt.Burst
	if err := mpischeme.AddToScheme(scheme.Scheme); err != nil {
		klog.Fatal(err)
	}
	kube, mpi := kubernetes.NewForConfigOrDie(config), clientset.NewForConfigOrDie(config)
	own, jobs := kubeinformers.NewSharedInformerFactory(kube, 0), informers.NewSharedInformerFactory(mpi, 0)
	ctx := context.Background()
	made, err := controller.NewMPIJobController(ctx, kube, mpi, nil, nil,
		own.Core().V1().ConfigMaps(), own.Core().V1().Secrets(), own.Core().V1().Services(), own.Batch().V1().Jobs(),
		own.Core().V1().Pods(), own.Scheduling().V1().PriorityClasses(), jobs.Kubeflow().V2beta1().MPIJobs(), opt)
	if err != nil {
		klog.Fatal(err)
	}
	own.Start(ctx.Done())
	jobs.Start(ctx.Done())
	if err := made.Run(opt.Threadiness, ctx.Done()); err != nil {
		klog.Fatal(err)
	}
}
